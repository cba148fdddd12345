from types import SimpleNamespace

from oscar.core.thumbnails import AbstractThumbnailer


class NoPictures(AbstractThumbnailer):
    def generate_thumbnail(self, source, **opts):
        return SimpleNamespace(url="/media/none.png")

    def delete_thumbnails(self, source):
        pass
