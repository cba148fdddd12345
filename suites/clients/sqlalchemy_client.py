"""SQLAlchemy: a schema with its types, the unit of work, queries, reflection, savepoints and
optimistic locking, on the psycopg dialect."""

import datetime as dt
import enum
import os
import uuid
from decimal import Decimal
from typing import Optional

import sqlalchemy as sa
from sqlalchemy import ForeignKey, UniqueConstraint, func, select
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, JSONB, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
from sqlalchemy.orm.exc import StaleDataError

AT = dt.datetime(2024, 3, 31, 1, 30, tzinfo=dt.timezone.utc)


class Base(DeclarativeBase):
    pass


class State(enum.Enum):
    new = "new"
    paid = "paid"


class Customer(Base):
    __tablename__ = "customer"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(30), unique=True)
    key: Mapped[uuid.UUID] = mapped_column(default=uuid.uuid4)
    orders: Mapped[list["Order"]] = relationship(back_populates="customer", cascade="all, delete-orphan")


class Order(Base):
    __tablename__ = "order"
    __table_args__ = (UniqueConstraint("customer_id", "number", name="order_number"),)
    id: Mapped[int] = mapped_column(sa.Identity(), primary_key=True)
    number: Mapped[int]
    customer_id: Mapped[int] = mapped_column(ForeignKey("customer.id", ondelete="CASCADE"), index=True)
    state: Mapped[State] = mapped_column(default=State.new)
    total: Mapped[Decimal] = mapped_column(sa.Numeric(10, 2), default=0)
    placed: Mapped[dt.datetime] = mapped_column(sa.DateTime(timezone=True), server_default=func.now())
    doc: Mapped[dict] = mapped_column(JSONB, default=dict)
    tags: Mapped[list[str]] = mapped_column(ARRAY(sa.Text), default=list)
    scan: Mapped[Optional[bytes]] = mapped_column(BYTEA)
    version: Mapped[int] = mapped_column(default=1)
    customer: Mapped[Customer] = relationship(back_populates="orders")
    __mapper_args__ = {"version_id_col": version}


def equal(got, wanted):
    assert got == wanted, f"{got!r} instead of {wanted!r}"


def raises(kind, work):
    try:
        work()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def fill(engine):
    with Session(engine) as session, session.begin():
        for i in range(10):
            customer = Customer(name=f"c{i}")
            customer.orders = [
                Order(number=n, total=Decimal(n) / 4, placed=AT, doc={"n": n, "of": f"c{i}"},
                      tags=["odd" if n % 2 else "even", f"t{n}"], scan=bytes([n, 0, 255]))
                for n in range(i)
            ]
            session.add(customer)


def read(engine):
    with Session(engine) as session:
        order = session.scalars(select(Order).where(Order.number == 8)).one()
        equal((order.total, order.placed, order.doc, order.tags, order.scan, order.state),
              (Decimal("2.00"), AT, {"n": 8, "of": "c9"}, ["even", "t8"], b"\x08\x00\xff", State.new))
        assert isinstance(order.customer.key, uuid.UUID)
        totals = (select(Customer.name, func.count(Order.id), func.coalesce(func.sum(Order.total), 0))
                  .outerjoin(Order).group_by(Customer.name).order_by(Customer.name).limit(3))
        equal([tuple(row) for row in session.execute(totals)],
              [("c0", 0, 0), ("c1", 1, 0), ("c2", 2, Decimal("0.25"))])
        found = select(func.count()).select_from(Order).where(
            Order.doc["n"].as_integer() > 5, Order.tags.contains(["even"]), Order.doc.has_key("of"))
        equal(session.scalar(found), 4)
        ranked = select(Order.number, func.row_number().over(
            partition_by=Order.customer_id, order_by=Order.total.desc())).join(Customer).where(
            Customer.name == "c3").order_by(Order.number)
        equal([tuple(row) for row in session.execute(ranked)], [(0, 3), (1, 2), (2, 1)])


def change(engine):
    # What is expected here is what READ COMMITTED shows, whatever the server's default is.
    engine = engine.execution_options(isolation_level="READ COMMITTED")
    with Session(engine) as session:
        order = session.scalars(select(Order).where(Order.number == 8)).one()
        order.state = State.paid
        session.commit()
        equal(order.version, 2)
        equal(session.scalar(select(func.count()).where(Order.state == State.paid)), 1)
        with Session(engine) as other:
            same = other.get(Order, order.id, with_for_update=True)
            same.total += 1
            other.commit()
        order.version  # loads what the other session has written
        with Session(engine) as other:
            other.execute(sa.update(Order).where(Order.id == order.id).values(version=77))
            other.commit()
        order.total = 5
        raises(StaleDataError, session.commit)


def savepoints(engine):
    with Session(engine) as session, session.begin():
        def again():
            with session.begin_nested():
                session.add(Customer(name="c1"))
                session.flush()

        error = raises(IntegrityError, again)
        equal(error.orig.sqlstate, "23505")
        session.add(Customer(name="after the savepoint"))
    with Session(engine) as session:
        equal(session.scalar(select(func.count(Customer.id))), 11)
        session.delete(session.scalars(select(Customer).where(Customer.name == "c9")).one())
        session.commit()
        equal(session.scalar(select(func.count(Order.id)).where(Order.number == 8)), 0)


def upsert(engine):
    statement = insert(Customer).values(name="c1", key=uuid.UUID(int=1))
    statement = statement.on_conflict_do_update(
        index_elements=[Customer.name], set_={"key": statement.excluded.key}).returning(Customer.key)
    with engine.begin() as conn:
        equal(conn.execute(statement).scalar_one(), uuid.UUID(int=1))
        many = insert(Customer).returning(Customer.id, sort_by_parameter_order=True)
        ids = conn.execute(many, [{"name": f"m{i}"} for i in range(200)]).scalars().all()
        equal(ids, sorted(ids))
        equal(len(set(ids)), 200)


def reflection(engine):
    inspector = sa.inspect(engine)
    equal(sorted(inspector.get_table_names()), ["customer", "order"])
    columns = {c["name"]: c for c in inspector.get_columns("order")}
    equal(str(columns["total"]["type"]), "NUMERIC(10, 2)")
    equal(columns["state"]["type"].enums, ["new", "paid"])
    equal(columns["id"]["identity"]["always"], False)
    equal(inspector.get_pk_constraint("order")["constrained_columns"], ["id"])
    (foreign,) = inspector.get_foreign_keys("order")
    equal((foreign["referred_table"], foreign["options"]), ("customer", {"ondelete": "CASCADE"}))
    equal([u["name"] for u in inspector.get_unique_constraints("order")], ["order_number"])
    equal([i["name"] for i in inspector.get_indexes("order") if not i.get("duplicates_constraint")],
          ["ix_order_customer_id"])
    mirrored = sa.MetaData()
    mirrored.reflect(engine)
    equal(sorted(mirrored.tables), ["customer", "order"])


def isolation(engine):
    for level in ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"):
        with engine.connect().execution_options(isolation_level=level) as conn:
            equal(conn.scalar(sa.text("SHOW transaction_isolation")).upper(), level)
            equal(conn.get_isolation_level(), level)


def main():
    # libpq's variables say where.
    engine = sa.create_engine("postgresql+psycopg://")
    with engine.connect() as conn:
        equal(conn.connection.driver_connection.pgconn.ssl_in_use, os.environ["PGSSLMODE"] != "disable")
    Base.metadata.create_all(engine)
    for part in (fill, read, change, savepoints, upsert, reflection, isolation):
        part(engine)
    Base.metadata.drop_all(engine)
    equal(sa.inspect(engine).get_table_names(), [])


main()
