"""SQLAlchemy's MySQL dialect: tables made and reflected, the ORM, an upsert, a lock."""
import os

from sqlalchemy import (
    Boolean, DateTime, ForeignKey, Integer, Numeric, String, Text, create_engine, func, inspect, select,
)
from sqlalchemy.dialects.mysql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

user, word = os.environ.get("MYSQL_USER", "root"), os.environ.get("MYSQL_PWD", "")
place = f"{os.environ['MYSQL_HOST']}:{os.environ['MYSQL_TCP_PORT']}/{os.environ['MYSQL_DATABASE']}"
engine = create_engine(f"mysql+pymysql://{user}:{word}@{place}")


class Base(DeclarativeBase):
    pass


class Person(Base):
    __tablename__ = "person"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    name: Mapped[str] = mapped_column(String(40), unique=True)
    about: Mapped[str | None] = mapped_column(Text)
    active: Mapped[bool] = mapped_column(Boolean, default=True)
    balance: Mapped[float | None] = mapped_column(Numeric(10, 2))
    since = mapped_column(DateTime, server_default=func.now())
    notes: Mapped[list["Note"]] = relationship(back_populates="person", cascade="all, delete-orphan")


class Note(Base):
    __tablename__ = "note"
    id: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str] = mapped_column(String(100), index=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id", ondelete="CASCADE"))
    person: Mapped[Person] = relationship(back_populates="notes")


Base.metadata.drop_all(engine)
Base.metadata.create_all(engine)
found = inspect(engine)
assert set(found.get_table_names()) >= {"person", "note"}
assert [column["name"] for column in found.get_columns("note")] == ["id", "text", "person_id"]
assert found.get_foreign_keys("note")[0]["referred_table"] == "person"
assert found.get_pk_constraint("person")["constrained_columns"] == ["id"]
with Session(engine) as session:
    ann = Person(name="ann", balance=10, notes=[Note(text="one"), Note(text="two")])
    session.add_all([ann, Person(name="ben", active=False)])
    session.commit()
    assert ann.id == 1 and ann.since is not None and ann.active is True
    names = session.scalars(select(Person.name).where(Person.active).order_by(Person.name)).all()
    assert names == ["ann"], names
    query = select(Person.name, func.count(Note.id)).outerjoin(Note).group_by(Person.name)
    assert sorted(map(tuple, session.execute(query))) == [("ann", 2), ("ben", 0)]
    locked = session.execute(select(Person).where(Person.id == 1).with_for_update()).scalar_one()
    locked.balance = locked.balance + 5
    session.commit()
    assert session.get(Person, 1).balance == 15
    session.execute(
        insert(Person).values(id=1, name="ann").on_duplicate_key_update(about="again")
    )
    session.commit()
    session.refresh(ann)
    assert ann.about == "again"
    session.add(Person(name="ann"))
    try:
        session.commit()
        raise AssertionError("a duplicate was let in")
    except IntegrityError:
        session.rollback()
    session.delete(ann)
    session.commit()
    assert session.scalar(select(func.count()).select_from(Note)) == 0
Base.metadata.drop_all(engine)
print("sqlalchemy: ok")
