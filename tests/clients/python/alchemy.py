"""SQLAlchemy over pymssql: Core, reflection and a small unit of work of the ORM. Prints lines as drive.py does."""

import os
import traceback
from datetime import datetime
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

ENGINE = sa.create_engine(
    sa.URL.create(
        "mssql+pymssql",
        os.environ["PIKEPOLE_USER"],
        os.environ["PIKEPOLE_PASSWORD"],
        os.environ["PIKEPOLE_HOST"],
        int(os.environ["PIKEPOLE_PORT"]),
        "master",
    ),
    connect_args={"encryption": "require" if os.environ["PIKEPOLE_ENCRYPT"] == "on" else "off"},
)


class Base(DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "alchemy_author"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.Unicode(60), unique=True)
    books: Mapped[list["Book"]] = relationship(back_populates="author", cascade="all, delete-orphan")


class Book(Base):
    __tablename__ = "alchemy_book"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str] = mapped_column(sa.Unicode(200), index=True)
    price: Mapped[Decimal] = mapped_column(sa.Numeric(10, 2), default=Decimal("1.00"))
    printed: Mapped[datetime | None] = mapped_column(sa.DateTime)
    author_id: Mapped[int] = mapped_column(sa.ForeignKey("alchemy_author.id"))
    author: Mapped[Author] = relationship(back_populates="books")


def connect():
    with ENGINE.connect() as connection:
        assert connection.execute(sa.text("SELECT 1")).scalar() == 1
        assert ENGINE.dialect.default_schema_name == "dbo"


def create_and_drop():
    Base.metadata.drop_all(ENGINE)
    Base.metadata.create_all(ENGINE)


def core():
    table = sa.Table("alchemy_core", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), sa.Column("x", sa.Unicode(20)))
    table.drop(ENGINE, checkfirst=True)
    table.create(ENGINE)
    with ENGINE.begin() as connection:
        first = connection.execute(table.insert().values(x="one"))
        assert first.inserted_primary_key == (1,), first.inserted_primary_key
        connection.execute(table.insert(), [{"x": f"number {n}"} for n in range(100)])
        assert connection.execute(sa.select(sa.func.count()).select_from(table)).scalar() == 101
        page = connection.execute(sa.select(table.c.id).order_by(table.c.id).limit(5).offset(10)).scalars().all()
        assert page == [11, 12, 13, 14, 15], page
        assert connection.execute(table.update().where(table.c.id > 90).values(x="late")).rowcount == 11
        assert connection.execute(table.delete().where(table.c.x == "late")).rowcount == 11
        back = connection.execute(table.insert().values(x="back").returning(table.c.id, table.c.x)).one()
        assert back.x == "back"


def orm_unit_of_work():
    with Session(ENGINE) as session:
        session.add_all([Author(name=f"author {n}", books=[Book(title=f"book {n}.{m}") for m in range(3)]) for n in range(5)])
        session.commit()
        found = session.scalars(sa.select(Book).join(Book.author).where(Author.name == "author 3").order_by(Book.title)).all()
        assert [book.title for book in found] == ["book 3.0", "book 3.1", "book 3.2"]
        found[0].price = Decimal("12.34")
        found[1].printed = datetime(2024, 2, 29, 12, 30)
        session.delete(found[2])
        session.commit()
        session.expire_all()
        assert session.get(Book, found[0].id).price == Decimal("12.34")
        assert session.get(Book, found[1].id).printed == datetime(2024, 2, 29, 12, 30)
        assert session.scalar(sa.select(sa.func.count(Book.id))) == 14
        session.delete(session.scalars(sa.select(Author).where(Author.name == "author 0")).one())
        session.commit()
        counts = session.execute(
            sa.select(Author.name, sa.func.count(Book.id)).outerjoin(Author.books).group_by(Author.name).order_by(Author.name)
        ).all()
        assert [tuple(row) for row in counts] == [("author 1", 3), ("author 2", 3), ("author 3", 2), ("author 4", 3)], counts
        session.add(Author(name="author 1"))
        try:
            session.commit()
        except sa.exc.IntegrityError:
            session.rollback()
        else:
            raise AssertionError("a second row with a unique name")
        session.add(Book(title="nobody's", author_id=99_999))
        try:
            session.commit()
        except sa.exc.IntegrityError:
            session.rollback()
        else:
            raise AssertionError("a row without the one it refers to")


def reflection():
    inspector = sa.inspect(ENGINE)
    assert {"alchemy_author", "alchemy_book"} <= set(inspector.get_table_names())
    columns = {column["name"]: column for column in inspector.get_columns("alchemy_book")}
    assert isinstance(columns["price"]["type"], sa.Numeric) and columns["price"]["type"].scale == 2
    assert columns["printed"]["nullable"] and not columns["title"]["nullable"]
    assert inspector.get_pk_constraint("alchemy_book")["constrained_columns"] == ["id"]
    (foreign,) = inspector.get_foreign_keys("alchemy_book")
    assert foreign["referred_table"] == "alchemy_author" and foreign["constrained_columns"] == ["author_id"]
    assert any(index["column_names"] == ["title"] for index in inspector.get_indexes("alchemy_book"))
    assert "dbo" in inspector.get_schema_names()
    sa.Table("alchemy_book", sa.MetaData(), autoload_with=ENGINE)


def main():
    for function in [connect, create_and_drop, core, orm_unit_of_work, reflection]:
        name = function.__name__.replace("_", " ")
        try:
            function()
            print(name, "ok", "", sep="\t", flush=True)
        except Exception as error:  # noqa: BLE001 - a feature's failure is its result
            print(name, "failed", f"{type(error).__name__}: {error}".replace("\n", " ")[:400], sep="\t", flush=True)
            if os.environ.get("PIKEPOLE_TRACE"):
                traceback.print_exc()


if __name__ == "__main__":
    main()
