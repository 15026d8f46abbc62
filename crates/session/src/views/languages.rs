//! `sys.syslanguages`.

use super::Kind::{Int, Name, SmallInt, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::{Rows, Source, View};
use pikepole_types::{Language, SqlError};

pub(super) const VIEWS: &[View] = &[View {
    schema: "sys",
    name: "syslanguages",
    columns: &[
        ("langid", SmallInt, No),
        ("dateformat", Text(3), No),
        ("datefirst", TinyInt, No),
        ("upgrade", Int, Yes),
        ("name", Name, No),
        ("alias", Name, No),
        ("months", Text(372), Yes),
        ("shortmonths", Text(132), Yes),
        ("days", Text(217), Yes),
        ("lcid", Int, No),
        ("msglangid", SmallInt, No),
    ],
    rows: languages,
}];

fn languages(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |language: &Language| {
        view.row()
            .integer("langid", language.id)
            .text("dateformat", language.date_format.name())
            .integer("datefirst", language.date_first)
            .integer("upgrade", 0)
            .text("name", language.name)
            .text("alias", language.alias)
            .text("months", language.months.join(","))
            .text("shortmonths", language.short_months.join(","))
            .text("days", language.days.join(","))
            .integer("lcid", language.lcid)
            .integer("msglangid", language.message_lcid)
            .done()
    };
    Ok(Language::all().iter().map(row).collect())
}
