//! Values of well-known crates, there and back through a table.

use pikepole_embedded::blocking::Connection;
use pikepole_embedded::{Engine, Error, FromSql, ToSql, params};
use std::fmt::Debug;

struct Database {
    _engine: Engine,
    connection: Connection,
}

impl Database {
    fn new() -> Database {
        let engine = Engine::in_memory().expect("memory is there");
        let connection = engine.connect_blocking().expect("connects");
        Database { _engine: engine, connection }
    }

    /// A value goes into a column of a type and comes back; so does NULL. The text is the server's.
    fn round<T: ToSql + FromSql + Clone + PartialEq + Debug>(&mut self, ty: &str, value: T, text: &str) {
        let connection = &mut self.connection;
        connection.execute(&format!("DROP TABLE IF EXISTS t; CREATE TABLE t (v {ty})"), []).expect("creates");
        connection.execute("INSERT t VALUES (@p1), (@p2)", params![&value, None::<T>]).expect("inserts");
        let rows = connection.query("SELECT v FROM t", []).expect("selects");
        let values: Vec<Option<T>> = rows.iter().map(|row| row.get(0).expect("it fits")).collect();
        assert_eq!(values, [Some(value), None], "{ty}");
        assert_eq!(rows.iter().next().map(|row| row.text(0)).as_deref(), Some(text));
    }

    fn refuses<T: ToSql>(&mut self, value: T) {
        assert!(matches!(self.connection.execute("SELECT @p1", params![value]), Err(Error::Usage(_))));
    }
}

#[test]
fn values_of_chrono() {
    use chrono::{DateTime, FixedOffset, NaiveDate, NaiveTime, TimeZone, Utc};
    let mut database = Database::new();
    let date = NaiveDate::from_ymd_opt(2026, 11, 27).expect("a date");
    let time = NaiveTime::from_hms_nano_opt(23, 59, 59, 123_456_700).expect("a time");
    database.round("date", date, "2026-11-27");
    database.round("date", NaiveDate::from_ymd_opt(1, 1, 1).expect("a date"), "0001-01-01");
    database.round("time", time, "23:59:59.1234567");
    database.round("datetime2", date.and_time(time), "2026-11-27 23:59:59.1234567");
    database.round("datetimeoffset", date.and_time(time).and_utc(), "2026-11-27 23:59:59.1234567 +00:00");
    let offset = FixedOffset::west_opt(90 * 60).expect("an offset");
    let local = offset.with_ymd_and_hms(2026, 11, 27, 1, 2, 3).single().expect("a moment");
    database.round("datetimeoffset(0)", local, "2026-11-27 01:02:03 -01:30");
    let utc: DateTime<Utc> = database.connection.query_value("SELECT v FROM t", []).expect("the same moment");
    assert_eq!(utc, local);
    let minute = date.and_hms_opt(1, 2, 0).expect("a minute");
    let read: chrono::NaiveDateTime =
        database.connection.query_value("SELECT CAST(@p1 AS smalldatetime)", params![minute]).expect("a minute");
    assert_eq!(read, minute);
    // A leap second is the last of its minute; what T-SQL does not have is refused.
    let leap = NaiveTime::from_hms_nano_opt(23, 59, 59, 1_500_000_000).expect("a leap second");
    let read: NaiveTime = database.connection.query_value("SELECT @p1", params![leap]).expect("a time");
    assert_eq!(read, NaiveTime::from_hms_nano_opt(23, 59, 59, 999_999_900).expect("a time"));
    database.refuses(NaiveDate::MAX);
    database.refuses(NaiveDate::MIN.and_time(time));
    database.refuses(Utc.from_utc_datetime(&NaiveDate::MAX.and_time(time)));
    database.refuses(FixedOffset::east_opt(61).expect("an offset").from_utc_datetime(&date.and_time(time)));
    let read = database.connection.query_value::<NaiveDate>("SELECT SYSDATETIME()", []);
    assert!(matches!(read, Err(Error::Usage(_))));
}

#[test]
fn values_of_jiff() {
    use jiff::tz::{Offset, TimeZone};
    use jiff::{Timestamp, civil};
    let mut database = Database::new();
    let moment = civil::datetime(2026, 11, 27, 23, 59, 59, 123_456_700);
    database.round("date", moment.date(), "2026-11-27");
    database.round("time", moment.time(), "23:59:59.1234567");
    database.round("datetime2", moment, "2026-11-27 23:59:59.1234567");
    database.round("datetime2", civil::datetime(1, 1, 1, 0, 0, 0, 100), "0001-01-01 00:00:00.0000001");
    let timestamp = Timestamp::from_nanosecond(-100).expect("a moment");
    database.round("datetimeoffset", timestamp, "1969-12-31 23:59:59.9999999 +00:00");
    let zone = TimeZone::fixed(Offset::from_seconds(-(3 * 60 + 30) * 60).expect("an offset"));
    let zoned = moment.to_zoned_datetime(zone).expect("a moment");
    database.round("datetimeoffset", zoned, "2026-11-27 23:59:59.1234567 -03:30");
    database.refuses(civil::date(-1, 1, 1));
    database.refuses(civil::datetime(0, 1, 1, 0, 0, 0, 0));
    database.refuses(Timestamp::MIN);
}

#[test]
fn values_of_uuid() {
    let mut database = Database::new();
    let uuid = uuid::Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);
    database.round("uniqueidentifier", uuid, "00112233-4455-6677-8899-AABBCCDDEEFF");
    assert!(matches!(database.connection.query_value::<uuid::Uuid>("SELECT 1", []), Err(Error::Usage(_))));
}

#[test]
fn values_of_rust_decimal() {
    use rust_decimal::Decimal;
    let mut database = Database::new();
    let decimal = |text: &str| text.parse::<Decimal>().expect("a decimal");
    database.round("decimal(10, 2)", decimal("-12345.67"), "-12345.67");
    database.round("decimal(38, 28)", decimal("0.0000000000000000000000000001"), "0.0000000000000000000000000001");
    database.round("decimal(38, 0)", Decimal::MAX, "79228162514264337593543950335");
    database.round("money", decimal("1.5000"), "1.5000");
    let whole: Decimal = database.connection.query_value("SELECT 7", []).expect("an integer");
    assert_eq!(whole, Decimal::from(7));
    let large = "SELECT CAST('99999999999999999999999999999999999999' AS decimal(38, 0))";
    assert!(matches!(database.connection.query_value::<Decimal>(large, []), Err(Error::Usage(_))));
    assert!(matches!(database.connection.query_value::<Decimal>("SELECT 1e0", []), Err(Error::Usage(_))));
}
