//! Determinism and precision of what is stored or indexed: one place decides, for PERSISTED, keys, statistics and the functions that tell.
//!
//! ```text
//!   binding an expression   calls of built-in functions, of the host's and of users', globals, explicit conversions: noted as they are met
//!   the bound expression    implicit conversions between texts and dates; float and real anywhere
//! ```
//! A value that hangs on the language, DATEFORMAT or DATEFIRST of a session, on the catalog or on the clock is not deterministic: stored,
//! it would be wrong for the next session. One that any `float` or `real` takes part in is not precise. What built-in functions are is
//! said by [`Function::is_deterministic`].

use super::rules::{TableColumn, parsed_expression};
use super::typed::Typed;
use super::{Binder, Names, checked_function, checked_view, is_bound, is_run};
use crate::context::ExecutionContext;
use crate::expression::{Call, Expr, Fault, integer_of};
use crate::host::Host;
use crate::program::{CompileContext, ProcedureIdentity, compile_function};
use pikepole_contention::sync::OnceLock;
use pikepole_engine::{Module, TableRecord};
use pikepole_tsql as tree;
use pikepole_types::{ClrType, CodePage, Function, SqlError, SqlType, Value};

/// What is known of the values of a computed column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    /// For equal columns they are always equal.
    pub deterministic: bool,
    /// No `float` or `real` takes part in them.
    pub precise: bool,
    /// Methods of `xml` take part in them.
    pub calls_methods: bool,
}

/// Set once something is met that is not deterministic.
pub(crate) type Undetermined = OnceLock<()>;

/// The last of the styles that are not deterministic as a whole.
const STYLE_WITHOUT_CENTURY_MAX: i64 = 100;

/// Whether a style of CONVERT says all that the session would say otherwise: not those with names of months or years of two digits.
fn style_is_deterministic(style: i64) -> bool {
    matches!(style, 20 | 21) || style > STYLE_WITHOUT_CENTURY_MAX && !matches!(style, 106 | 107 | 109 | 113)
}

/// Whether a conversion gives the same in each session; `style` of None: it has none, of `Some(None)`: one that is no constant.
fn conversion_is_deterministic(from: &SqlType, to: &SqlType, style: Option<Option<i64>>) -> bool {
    let is_old = |ty: &SqlType| matches!(ty, SqlType::DateTime | SqlType::SmallDateTime);
    let (reads, writes) = (from.is_string() && to.is_date_or_time(), from.is_date_or_time() && to.is_string());
    match style {
        _ if *from == SqlType::Variant => from == to,
        _ if !reads && !writes => true,
        None => writes && !is_old(from),
        Some(style) => style.is_some_and(style_is_deterministic),
    }
}

fn is_float(ty: &SqlType) -> bool {
    matches!(ty, SqlType::Float | SqlType::Real)
}

/// Functions of dates beside those that name a part of one: a text is read as a date.
const OF_DATES: [&str; 6] = ["DAY", "EOMONTH", "MONTH", "SWITCHOFFSET", "TODATETIMEOFFSET", "YEAR"];

/// Functions that take a date as it is, and make no text of it.
const OF_VALUES: [&str; 8] =
    ["BINARY_CHECKSUM", "CHECKSUM", "CHOOSE", "DATALENGTH", "GREATEST", "JSON_ARRAY", "JSON_OBJECT", "LEAST"];

/// Whether a call converts none of its arguments as the session says.
fn arguments_are_deterministic(call: &Call) -> bool {
    let function: &Function = call.function;
    let of_dates = function.date_part || OF_DATES.contains(&function.name);
    let values = call.types.iter().skip(usize::from(function.date_part));
    let is_read = |ty: &SqlType| of_dates && ty.is_string();
    let is_written = |ty: &SqlType| {
        let is_old = matches!(ty, SqlType::DateTime | SqlType::SmallDateTime);
        is_old && !of_dates && !OF_VALUES.contains(&function.name)
    };
    values.into_iter().all(|ty| !is_read(ty) && !is_written(ty))
}

/// The word of `DATEPART(word, ...)`.
fn date_part(call: &Call) -> Option<&str> {
    match call.arguments.first() {
        Some(Expr::Const(Value::Str(part))) if call.function.date_part => Some(part),
        _ => None,
    }
}

/// What a bound expression shows, over registers that begin at zero and hold `columns`.
fn shown(expr: &Expr, columns: &[TableColumn]) -> Traits {
    let mut traits = Traits { deterministic: true, precise: true, calls_methods: false };
    expr.visit_all(&mut |part| {
        let (deterministic, precise) = match part {
            Expr::Const(value) => (true, !matches!(value, Value::Float(_) | Value::Real(_))),
            Expr::Slot(slot) => (true, columns.get(*slot).is_none_or(|column| !is_float(&column.ty))),
            Expr::Global(_) | Expr::Host(..) => (false, true),
            Expr::Convert(convert) => {
                let style = convert.style.as_ref().map(|style| match style {
                    Expr::Const(value) => integer_of(value),
                    _ => None,
                });
                let deterministic = conversion_is_deterministic(&convert.from, &convert.to, style);
                (deterministic, !is_float(&convert.from) && !is_float(&convert.to))
            }
            Expr::Assign(assign) => {
                let deterministic = conversion_is_deterministic(&assign.from, &assign.to, None);
                (deterministic, !is_float(&assign.from) && !is_float(&assign.to))
            }
            Expr::Call(call) => {
                let result = (call.function.result_type)(&call.types);
                let deterministic = call.function.is_deterministic(date_part(call), call.types.len());
                let precise = !call.types.iter().any(is_float) && result.is_ok_and(|ty| !is_float(&ty));
                (deterministic && arguments_are_deterministic(call), precise)
            }
            // Coordinates are floats.
            Expr::Clr(call) => (true, call.ty == ClrType::HierarchyId),
            _ => (true, true),
        };
        traits.deterministic &= deterministic;
        traits.precise &= precise;
    });
    traits
}

impl Binder<'_> {
    /// Something has been met that is not deterministic.
    pub(super) fn undetermined(&mut self) {
        self.is_undetermined = true;
        if let Some(met) = self.names.undetermined {
            // It may be set already.
            let _ = met.set(());
        }
    }

    /// An explicit conversion.
    pub(super) fn note_conversion(&mut self, from: &SqlType, to: &SqlType, style: Option<&Typed>) {
        let style = style.map(|style| match &style.expr {
            Expr::Const(value) => integer_of(value),
            _ => None,
        });
        if !conversion_is_deterministic(from, to, style) {
            self.undetermined();
        }
    }

    /// A call of a built-in function.
    ///
    /// # Errors
    /// 443 where a function calls one that has side effects.
    pub(super) fn note_call(&mut self, function: &Function, arguments: &[Typed]) -> Result<(), Fault> {
        if function.has_side_effects() {
            self.refuse_side_effect(function.name)?;
        }
        let part = match arguments.first().map(|argument| &argument.expr) {
            Some(Expr::Const(Value::Str(part))) if function.date_part => Some(part.as_str()),
            _ => None,
        };
        if !function.is_deterministic(part, arguments.len()) {
            self.undetermined();
        }
        Ok(())
    }

    /// # Errors
    /// 443 in the text of a function.
    pub(super) fn refuse_side_effect(&self, name: &str) -> Result<(), Fault> {
        if self.is_in_function() {
            return Err(Box::new(SqlError::side_effect_in_function(name.to_ascii_lowercase())));
        }
        Ok(())
    }

    /// Whether the text of a function that is to be made is being bound, and not that of a view or function that it uses.
    pub(super) fn is_in_function(&self) -> bool {
        self.names.in_function && self.inner_catalog.is_none()
    }

    /// A constant that is not computed with before the expression is looked at, where that is all that is asked for.
    pub(super) fn kept_constant(&self, typed: Typed) -> Typed {
        let is_kept = matches!(typed.expr, Expr::Const(Value::Str(_) | Value::Float(_) | Value::Real(_)));
        if !self.keeps_constants || !is_kept {
            return typed;
        }
        let (from, to, page) = (typed.ty, typed.ty, CodePage::Western);
        let convert = crate::expression::Convert { input: typed.expr, from, to, style: None, lenient: false, page };
        Typed { expr: Expr::Convert(Box::new(convert)), ..typed }
    }
}

/// What a computed column's expression is, which was bound to `typed` by a binder that has met something not deterministic or nothing.
pub(super) fn traits_of(
    expr: &tree::Expr,
    (typed, undetermined): (&Typed, bool),
    table: &str,
    columns: &[TableColumn],
    names: &Names<'_>,
) -> Traits {
    // Once more, so that conversions of constants are seen.
    let mut binder = Binder::new(names, columns.len());
    binder.keeps_constants = true;
    let kept = super::rules::value_over(&mut binder, expr, table, columns);
    let mut traits = shown(kept.as_ref().map_or(&typed.expr, |kept| &kept.expr), columns);
    traits.deterministic &= !undetermined;
    traits.precise &= !is_float(&typed.ty);
    traits
}

/// What the computed column at a place of a table is; None: it is none.
pub fn column_traits(table: &TableRecord, place: usize, context: &ExecutionContext, host: &dyn Host) -> Option<Traits> {
    let computed = table.columns.get(place)?.computed.as_ref()?;
    let catalog = context.catalog();
    let names = Names::of(&catalog, host);
    let columns = TableColumn::all(table);
    let expr = parsed_expression(&computed.text).ok()?;
    let (_, traits) = super::computed_column(&expr, &table.name, &columns, &names).ok()?;
    Some(traits)
}

/// Whether a column can be a key of an index or of statistics, as far as its values go.
///
/// # Errors
/// 2729 for a column that is not deterministic, 2799 for one that is not precise and not persisted.
pub fn check_key_column(
    table: &TableRecord,
    place: usize,
    (index, shown): (&str, &str),
    context: &ExecutionContext,
    host: &dyn Host,
) -> Result<(), SqlError> {
    let column = &table.columns[place];
    let Some(computed) = &column.computed else { return Ok(()) };
    if computed.persisted {
        return Ok(());
    }
    match column_traits(table, place, context, host) {
        Some(Traits { deterministic: true, precise: true, .. }) => Ok(()),
        Some(Traits { deterministic: true, .. }) if !computed.when_read => {
            Err(SqlError::column_imprecise(index, shown, &column.name))
        }
        _ => Err(SqlError::column_not_deterministic(&column.name, "table", shown)),
    }
}

/// Whether a view or function is deterministic: it is bound to the schema, and so is and does all that it calls.
pub fn module_is_deterministic(module: &Module, context: &ExecutionContext, host: &dyn Host) -> bool {
    if !is_bound(&module.text) {
        return false;
    }
    let met = Undetermined::new();
    let catalog = context.catalog().of_module(module);
    let names = Names { undetermined: Some(&met), ..Names::of(&catalog, host) };
    let batch = tree::parse_with(&module.text, catalog.parse_options());
    let checked = match batch.ok().and_then(|batch| batch.statements.into_iter().next()).map(|first| first.kind) {
        Some(tree::StatementKind::CreateView(view)) => checked_view(&view, &names).is_ok(),
        Some(tree::StatementKind::CreateFunction(function)) => {
            let runs = is_run(&function);
            let identity = ProcedureIdentity::to_be(&module.name, &module.schema, &context.settings);
            let compiling = CompileContext { undetermined: Some(&met), ..context.compile_context(host) };
            let compiling = CompileContext { catalog: catalog.clone(), ..compiling };
            checked_function(&function, &names).is_ok()
                && (!runs || compile_function(&module.text, identity, &compiling).is_ok())
        }
        _ => false,
    };
    checked && met.get().is_none()
}
