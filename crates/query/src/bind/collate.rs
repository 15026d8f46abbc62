//! COLLATE, and the collations that comparisons are made by. What decides which one that is: [`Collated`].

use super::Binder;
use super::typed::Typed;
use crate::expression::{Comparison, Convert, Expr, Fault};
use crate::output::ColumnInfo;
use crate::plan::{Registers, SortKey};
use pikepole_tsql as tree;
use pikepole_types::{CodePage, Collated, Collation, Length, SqlError, SqlType, Value};

/// The collation of a name; `default` is the database's.
///
/// # Errors
/// 448 for what is no collation's name.
pub(super) fn named(name: &tree::Name, default: Collation) -> Result<Collation, Fault> {
    if ["DATABASE_DEFAULT", "CATALOG_DEFAULT"].iter().any(|own| name.is(own)) {
        return Ok(default);
    }
    Collation::by_name(&name.text).ok_or_else(|| Box::new(SqlError::invalid_collation(&name.text)))
}

/// The collation of a name, for texts of a type.
///
/// # Errors
/// As of [`named`]; 459 for one that `char` and `varchar` have no code page in.
fn named_for(name: &tree::Name, ty: &SqlType, default: Collation) -> Result<Collation, Fault> {
    let collation = named(name, default)?;
    if collation.code_page() == CodePage::UnicodeOnly && ty.is_string() && !ty.is_unicode() {
        return Err(Box::new(SqlError::collation_of_unicode_only(collation.name())));
    }
    Ok(collation)
}

/// The collation that a database is to have.
///
/// # Errors
/// As of [`named`]; 459 for one that `char` and `varchar` have no code page in.
pub(crate) fn database_collation(name: &tree::Name) -> Result<Collation, Fault> {
    named_for(name, &SqlType::VarChar(Length::Max), Collation::default())
}

/// The collations of columns whose definitions name none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnDefaults {
    /// Of a column without COLLATE.
    pub(crate) unsaid: Collation,
    /// What `COLLATE database_default` is: the session's database's, also for a table of tempdb.
    pub(crate) database: Collation,
}

impl ColumnDefaults {
    /// Those of tables of a database.
    pub(crate) fn of(database: Collation) -> ColumnDefaults {
        ColumnDefaults { unsaid: database, database }
    }

    /// Those of temporary tables: tempdb has the server's collation.
    pub(crate) fn of_temporary(database: Collation) -> ColumnDefaults {
        ColumnDefaults { unsaid: Collation::default(), database }
    }
}

/// The collation of a column.
///
/// # Errors
/// As of [`named_for`]; 447 for a column that holds no texts.
pub(crate) fn column_collation(
    definition: &tree::ColumnDefinition,
    ty: &SqlType,
    defaults: ColumnDefaults,
) -> Result<Collation, Fault> {
    match &definition.collation {
        None => Ok(defaults.unsaid),
        Some(_) if !ty.is_string() => Err(Box::new(SqlError::collate_of_type(ty.error_name()))),
        Some(name) => named_for(name, ty, defaults.database),
    }
}

/// The collation that a list's column is grouped or ordered by; `place` counts from one.
///
/// # Errors
/// 451 when the column's parts do not agree.
pub(crate) fn in_column(collated: Collated, statement: &str, place: usize) -> Result<Collation, Fault> {
    match collated {
        Collated::Conflict { left, right, operator } => {
            let (left, right) = (left.name(), right.name());
            Err(Box::new(SqlError::collation_conflict_in_column(right, left, operator, statement, place)))
        }
        agreed => Ok(agreed.shown()),
    }
}

/// A key to order by, the `place`th.
///
/// # Errors
/// 305 for a value of xml, 306 for one of `text` and its like, 451 for a text whose parts' collations do not agree.
pub(super) fn order_key(typed: Typed, descending: bool, place: usize) -> Result<SortKey, Fault> {
    comparable(&typed.ty, "ORDER BY")?;
    let collation = in_column(typed.collated, "ORDER BY", place)?.comparing(&typed.ty);
    Ok(SortKey { expr: typed.expr, descending, collation })
}

/// What tells rows apart, and where each of their values goes.
pub(super) fn distinct_keys(values: Vec<Expr>, columns: &[ColumnInfo], registers: Registers) -> Vec<(SortKey, usize)> {
    let key = |((expr, column), slot): ((Expr, &ColumnInfo), usize)| {
        (SortKey { collation: column.collated.shown().comparing(&column.ty), ..SortKey::plain(expr) }, slot)
    };
    values.into_iter().zip(columns).zip(registers.range()).map(key).collect()
}

/// What errors call a comparison.
fn operation(op: Comparison) -> &'static str {
    match op {
        Comparison::Equal => "equal to",
        Comparison::NotEqual => "not equal to",
        Comparison::Less => "less than",
        Comparison::LessOrEqual => "less than or equal to",
        Comparison::Greater => "greater than",
        Comparison::GreaterOrEqual => "greater than or equal to",
    }
}

/// The type at which two values meet that are compared.
///
/// # Errors
/// 402 for `text`, `ntext` and `image`, whatever stands beside them; 206 for types that do not meet.
pub(super) fn compared_type(op: Comparison, left: &Typed, right: &Typed) -> Result<SqlType, Fault> {
    if left.ty.is_text_or_image() || right.ty.is_text_or_image() {
        let (left, right) = (left.ty.error_name(), right.ty.error_name());
        return Err(Box::new(SqlError::types_incompatible(left, right, operation(op))));
    }
    Ok(pikepole_types::implicit_type(&left.ty, &right.ty)?)
}

/// The collation by which two values are compared that meet at a type.
///
/// # Errors
/// 446 and 468 when they do not agree; 305 and 402 for values of xml.
pub(super) fn compared(op: Comparison, left: &Typed, right: &Typed, ty: &SqlType) -> Result<Collation, Fault> {
    if let SqlType::Clr(of) = ty
        && !ty.is_comparable()
    {
        return Err(Box::new(SqlError::invalid_operator(operation(op), of.name())));
    }
    if *ty == SqlType::Xml {
        let is_xml = |ty: &SqlType| matches!(ty, SqlType::Xml | SqlType::Null);
        if is_xml(&left.ty) && is_xml(&right.ty) {
            return Err(Box::new(SqlError::xml_not_comparable()));
        }
        let (left, right) = (left.ty.error_name(), right.ty.error_name());
        return Err(Box::new(SqlError::types_incompatible(left, right, operation(op))));
    }
    if !ty.is_string() {
        return Ok(Collation::default());
    }
    Ok(left.collated.compared(right.collated, operation(op))?.comparing(ty))
}

/// Refuses values that are not compared where a clause compares them.
///
/// # Errors
/// 305 for values of xml, 306 for `text` and its like, 249 for shapes.
pub(super) fn comparable(ty: &SqlType, clause: &str) -> Result<(), Fault> {
    match ty {
        SqlType::Xml => Err(Box::new(SqlError::xml_not_comparable())),
        _ if ty.is_text_or_image() => Err(Box::new(SqlError::text_not_comparable())),
        _ if !ty.is_comparable() => Err(Box::new(SqlError::not_comparable(ty.name(), clause))),
        _ => Ok(()),
    }
}

/// What the value of an operator or function has that is made of texts.
///
/// # Errors
/// 468 when COLLATE says different things.
pub(super) fn met<'t>(parts: impl IntoIterator<Item = &'t Typed>, operator: &'static str) -> Result<Collated, Fault> {
    let mut met = Collated::Default;
    for part in parts {
        met = met.meet(part.collated, operator)?;
    }
    Ok(met)
}

/// Functions that compare texts, and what errors call what they do.
const COMPARING: [(&str, &str); 7] = [
    ("CHARINDEX", "charindex"),
    ("GREATEST", "greatest"),
    ("LEAST", "least"),
    ("NULLIF", "equal to"),
    ("PATINDEX", "patindex"),
    ("REPLACE", "replace"),
    ("TRANSLATE", "translate"),
];

/// What the result of a function has, and the collation that the function works by: `default` when its arguments say nothing.
///
/// # Errors
/// 446 and 468 when a function that compares its arguments has some that do not agree.
pub(super) fn of_call(
    function: &'static str,
    arguments: &[Typed],
    default: Collation,
) -> Result<(Collated, Collation), Fault> {
    let Some((_, operation)) = COMPARING.iter().find(|(name, _)| *name == function) else {
        let met = met(arguments, function)?;
        return Ok(match met {
            // A digest of texts that each compare in their own way is the same for all that are equal.
            Collated::Conflict { .. } => (met, Collation::COARSEST),
            Collated::Default => (met, default),
            agreed => (agreed, agreed.shown()),
        });
    };
    let mut collated = Collated::Default;
    let mut collation = default;
    let mut texts = arguments.iter().filter(|argument| argument.ty.is_string());
    for argument in texts.clone() {
        collation = collated.compared(argument.collated, operation)?;
        collated = collated.meet(argument.collated, operation)?;
    }
    // One text of Unicode makes the others such.
    let ty = texts.find(|argument| argument.ty.is_unicode()).map_or(SqlType::VarChar(Length::Max), |wide| wide.ty);
    Ok((collated, collation.comparing(&ty)))
}

/// A text of `char` or `varchar` in another code page; its length grows with what characters take there.
fn in_page(typed: Typed, page: CodePage) -> Typed {
    if !matches!(typed.ty, SqlType::Char(_) | SqlType::VarChar(_) | SqlType::Text) || typed.page() == page {
        return typed;
    }
    let grown = |bytes: u16| usize::from(bytes).saturating_mul(page.width_max()).min(8000) as u16;
    let to = match typed.ty {
        SqlType::Char(bytes) if page.width_max() == 1 => SqlType::Char(bytes),
        SqlType::Char(bytes) | SqlType::VarChar(Length::Limit(bytes)) => SqlType::VarChar(Length::Limit(grown(bytes))),
        other => other,
    };
    let (constant, nullable, from) = (typed.expr.is_const(), typed.nullable, typed.ty);
    let convert = Convert { input: typed.expr, from, to, style: None, lenient: false, page };
    let converted = Typed::new(Expr::Convert(Box::new(convert)), to, nullable);
    if constant { converted.folded() } else { converted }
}

impl Binder<'_> {
    /// `x COLLATE name`: the value is that of `x`, as far as the code page has its characters.
    pub(super) fn collated(&mut self, inner: &tree::Expr, name: &tree::Name) -> Result<Typed, Fault> {
        let default = self.collation();
        named(name, default)?;
        let typed = self.expr(inner)?;
        if !typed.ty.is_string() && typed.ty != SqlType::Null {
            return Err(Box::new(SqlError::collate_of_type(typed.ty.error_name())));
        }
        let collation = named_for(name, &typed.ty, default)?;
        Ok(in_page(typed, collation.code_page()).collated(Collated::Explicit(collation)))
    }

    /// The collation of the database that names are looked up in at this place.
    pub(crate) fn collation(&self) -> Collation {
        self.catalog().collation()
    }

    /// A text that nothing else gives a collation has the database's.
    pub(super) fn in_database(&self, typed: Typed) -> Typed {
        if typed.collated == Collated::Default && typed.ty.is_string() { self.labelled(typed) } else { typed }
    }

    /// The same value, from which a text will be made: it has the database's collation.
    pub(super) fn labelled(&self, typed: Typed) -> Typed {
        match typed.collated {
            Collated::Default => Typed { collated: Collated::Database(self.collation()), ..typed },
            _ => typed,
        }
    }

    /// A constant as written. A text of `varchar` has the characters of the database's code page.
    pub(super) fn literal(&self, written: &tree::Literal) -> Result<Typed, Fault> {
        let typed = super::expression::literal(written)?;
        match (written, &typed.expr) {
            (tree::Literal::String { value, national: false }, Expr::Const(_)) if !value.is_ascii() => {
                let page = self.collation().code_page();
                let text = page.replace_foreign(value);
                let length = match u16::try_from(page.units(&text)) {
                    Ok(units) if units <= 8000 => Length::Limit(units.max(1)),
                    _ => Length::Max,
                };
                Ok(Typed::constant(Value::Str(text.into_owned()), SqlType::VarChar(length)))
            }
            _ => Ok(typed),
        }
    }

    /// Values that are compared with each other.
    pub(super) fn operands<const N: usize>(&mut self, trees: [&tree::Expr; N]) -> Result<[Typed; N], Fault> {
        let mut bound = std::array::from_fn(|_| Typed::constant(pikepole_types::Value::Null, SqlType::Null));
        for (typed, tree) in bound.iter_mut().zip(trees) {
            *typed = self.expr(tree)?;
        }
        Ok(bound)
    }
}
