from django.urls import path

from . import views

urlpatterns = [
    path("buy/<int:item>", views.buy),
    path("redeem/<int:item>/<str:code>", views.redeem),
]
