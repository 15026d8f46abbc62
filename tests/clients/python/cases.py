"""Values that every client sends and reads back, at the edges of their types."""

import datetime as d
from decimal import Decimal
from uuid import UUID

BEYOND_BMP = "täxt \u4e2d\u6587 \U0001f40e\U00010348"

# (type, values); NULL is tried with each.
TYPES = [
    ("bit", [True, False]),
    ("tinyint", [0, 255]),
    ("smallint", [-(2**15), 2**15 - 1]),
    ("int", [-(2**31), 2**31 - 1]),
    ("bigint", [-(2**63), 2**63 - 1]),
    ("decimal(38,0)", [Decimal("9" * 38), Decimal("-" + "9" * 38)]),
    ("decimal(38,38)", [Decimal("0." + "9" * 38), Decimal("0.00000000000000000000000000000000000001")]),
    ("numeric(18,4)", [Decimal("12345678901234.5678"), Decimal("-0.0001"), Decimal("0.0000")]),
    ("money", [Decimal("-922337203685477.5808"), Decimal("922337203685477.5807")]),
    ("smallmoney", [Decimal("-214748.3648"), Decimal("214748.3647")]),
    ("float", [1.7976931348623157e308, -2.2250738585072014e-308, 0.1]),
    ("real", [3.4028234663852886e38, 0.5]),
    ("date", [d.date(1, 1, 1), d.date(9999, 12, 31), d.date(2024, 2, 29)]),
    ("time(6)", [d.time(0, 0, 0), d.time(23, 59, 59, 999999)]),
    ("datetime", [d.datetime(1753, 1, 1), d.datetime(9999, 12, 31, 23, 59, 59, 997000)]),
    ("smalldatetime", [d.datetime(1900, 1, 1), d.datetime(2079, 6, 6, 23, 59)]),
    ("datetime2(6)", [d.datetime(1, 1, 1), d.datetime(9999, 12, 31, 23, 59, 59, 999999)]),
    ("datetimeoffset(6)", [
        d.datetime(2024, 2, 29, 12, 30, 15, 123456, d.timezone(d.timedelta(hours=5, minutes=30))),
        d.datetime(1970, 1, 1, tzinfo=d.timezone(-d.timedelta(hours=8))),
    ]),
    ("char(5)", ["abc  ", "     "]),
    ("varchar(8000)", ["", "plain", "x" * 8000]),
    ("varchar(max)", ["", "y" * 7000]),
    ("nchar(6)", ["täxt  "]),
    ("nvarchar(4000)", ["", BEYOND_BMP, "\u4e2d" * 2000]),
    ("nvarchar(max)", ["", BEYOND_BMP * 250]),
    ("binary(4)", [b"\x00\x01\x02\xff"]),
    ("varbinary(8000)", [b"", b"\x00\xff" * 4000]),
    ("varbinary(max)", [b"", bytes(range(256)) * 30]),
    ("text", ["", "plain", "y" * 9000]),
    ("ntext", ["", BEYOND_BMP * 250]),
    ("image", [b"", bytes(range(256)) * 40]),
    ("uniqueidentifier", [UUID("00112233-4455-6677-8899-aabbccddeeff")]),
]


# Collations whose code pages have these texts: a client decodes a `varchar` by its column's collation.
CODE_PAGES = [
    ("Cyrillic_General_CI_AS", "\u041f\u0440\u0438\u0432\u0435\u0442"),
    ("SQL_Latin1_General_CP1251_CI_AS", "\u041f\u0440\u0438\u0432\u0435\u0442"),
    ("Greek_CI_AS", "\u0393\u03b5\u03b9\u03ac"),
    ("Czech_CI_AS", "\u010de\u0161tina"),
    ("Turkish_CI_AS", "\u0130\u0131\u011f\u015f"),
    ("Hebrew_CI_AS", "\u05e9\u05dc\u05d5\u05dd"),
    ("Arabic_CI_AS", "\u0633\u0644\u0627\u0645"),
    ("Latvian_CI_AS", "\u0137\u012bmija"),
    ("Thai_CI_AS", "\u0e44\u0e17\u0e22"),
    ("Japanese_CI_AS", "\u65e5\u672c\u8a9e\uff71"),
    ("Chinese_PRC_CI_AS", "\u4e2d\u6587"),
    ("Chinese_Taiwan_Stroke_CI_AS", "\u7e41\u9ad4"),
    ("Korean_Wansung_CI_AS", "\ud55c\uae00"),
    ("Latin1_General_100_CI_AS_SC_UTF8", "\u00e9\u65e5\U0001f600"),
]

# Values longer than a row of a page.
LONG = [
    ("nvarchar(4000)", "\u4e2d" * 4000),
    ("varchar(max)", "y" * 100_000),
    ("nvarchar(max)", BEYOND_BMP * 20_000),
    ("varbinary(max)", bytes(range(256)) * 1000),
]


def literal(type_name, value):
    """The value as T-SQL text, so that what is read does not depend on what was sent."""
    if value is None:
        text = "NULL"
    elif isinstance(value, bool):
        text = str(int(value))
    elif isinstance(value, float):
        text = repr(value) if "e" in repr(value) else repr(value) + "e0"
    elif isinstance(value, (int, Decimal)):
        text = format(value, "f") if isinstance(value, Decimal) else str(value)
    elif isinstance(value, (bytes, bytearray)):
        text = "0x" + value.hex()
    elif isinstance(value, d.datetime):
        zone = value.strftime("%z")
        zone = f"{zone[:3]}:{zone[3:]}" if zone else ""
        fraction = 0 if type_name == "smalldatetime" else 3 if type_name == "datetime" else 6
        parts = f"{value.year:04}-{value.month:02}-{value.day:02}T{value.hour:02}:{value.minute:02}:{value.second:02}"
        text = f"'{parts}{('.%06d' % value.microsecond)[:fraction + 1] if fraction else ''}{zone}'"
    elif isinstance(value, d.date):
        text = f"'{value.year:04}-{value.month:02}-{value.day:02}'"
    elif isinstance(value, d.time):
        text = f"'{value.isoformat()}'"
    else:
        text = "N'" + str(value).replace("'", "''") + "'"
    return f"CAST({text} AS {type_name})"


def same(expected, got):
    """Whether a value came through; clients differ in the classes they use."""
    if isinstance(expected, UUID):
        return str(got).lower() == str(expected)
    if isinstance(expected, (bytes, bytearray)):
        return bytes(got) == bytes(expected)
    if isinstance(expected, bool):
        return bool(got) == expected
    if isinstance(expected, d.datetime) and isinstance(got, d.datetime):
        if (expected.tzinfo is None) != (got.tzinfo is None):
            return False
        return got == expected
    return got == expected
