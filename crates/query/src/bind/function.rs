//! Function calls: aggregates, built-in functions, the session's functions.

use super::collate::{of_call, order_key};
use super::expression::global_value;
use super::typed::{Typed, convert_to, reads_session};
use super::{Binder, PendingApply};
use crate::errors;
use crate::expression::{Call, Expr, Fault, Width};
use crate::plan;
use crate::state::Global;
use pikepole_tsql as tree;
use pikepole_types::{Aggregate, Collated, Collation, Function, Length, SqlError, SqlType, Value, aggregate_type};

impl Binder<'_> {
    /// Binds a call.
    ///
    /// # Errors
    /// 195 for an unknown function, 174 and 189 for a wrong number of arguments, and the arguments' own.
    pub(crate) fn call(&mut self, call: &tree::FunctionCall) -> Result<Typed, Fault> {
        if let Some(over) = &call.over {
            return self.window_function(call, over);
        }
        let name = call.name.name.as_str();
        if super::partition::is_partition(call) {
            return self.partition_number(call);
        }
        if call.name.schema.is_some() && !self.is_of_system(&call.name) {
            if let Some(called) = self.column_method(call)? {
                return Ok(called);
            }
            return self.user_function(call);
        }
        if let Some(grouping) = self.grouping_call(call)? {
            return Ok(grouping);
        }
        if let Some(function) = aggregate(name) {
            return self.aggregate_of_level(call, function);
        }
        if super::window::needs_over(name) {
            return Err(Box::new(SqlError::over_needed(name)));
        }
        if name.eq_ignore_ascii_case("COLUMNS_UPDATED") {
            check_count(name, call.arguments.len(), 0, 0)?;
            return self.columns_updated();
        }
        if let Some(global) = Global::function(name) {
            check_count(name, call.arguments.len(), 0, 0)?;
            self.undetermined();
            return Ok(global_value(global));
        }
        if name.eq_ignore_ascii_case("IDENTITY") {
            return Err(Box::new(SqlError::identity_without_into()));
        }
        if call.star && (name.eq_ignore_ascii_case("CHECKSUM") || name.eq_ignore_ascii_case("BINARY_CHECKSUM")) {
            let arguments = self.all_columns()?;
            return self.named_call(name, arguments);
        }
        let mut arguments = Vec::with_capacity(call.arguments.len());
        let date_part = pikepole_types::lookup(name).is_some_and(|function| function.date_part);
        for (index, argument) in call.arguments.iter().enumerate() {
            let Some(expr) = argument.expr() else {
                return Err(errors::unsupported("DEFAULT as an argument"));
            };
            if (index == 0 && date_part) || (index == 1 && name.eq_ignore_ascii_case("ISJSON")) {
                arguments.push(bare_word(name, index, expr)?);
            } else {
                arguments.push(self.expr(expr)?);
            }
        }
        // What is JSON already goes into a document as it is.
        let third = call.arguments.get(2).and_then(tree::FunctionArgument::expr);
        if name.eq_ignore_ascii_case("JSON_MODIFY") {
            check_count(name, arguments.len(), 3, 3)?;
            if third.is_some_and(super::document::gives_json) {
                arguments.push(Typed::constant(Value::Bit(true), SqlType::Bit));
            }
        }
        self.named_call(name, arguments)
    }

    /// Whether a function's name is one of the system's: `sys.fn_...`, also as master's, and `master.dbo.fn_...` or `msdb.dbo.fn_...`.
    fn is_of_system(&self, name: &tree::ObjectName) -> bool {
        let of_server = ["master", "msdb"];
        let is_there = |database: &str| of_server.iter().any(|name| database.eq_ignore_ascii_case(name));
        let is_function = || {
            let (schema, name) = (name.schema_str().unwrap_or("dbo"), name.name.as_str());
            schema.eq_ignore_ascii_case("dbo") && name.starts_with("fn_") && self.names.host.function(name).is_some()
        };
        name.schema_str().is_some_and(is_system) || name.database_str().is_some_and(is_there) && is_function()
    }

    /// The columns that a star stands for.
    fn all_columns(&mut self) -> Result<Vec<Typed>, Fault> {
        let sources = self.scope().sources.iter();
        let names = sources.flat_map(|source| {
            let of_source = |column: &super::scope::SourceColumn| (source.alias.clone(), column.name.clone());
            source.columns.iter().map(of_source)
        });
        let names: Vec<(String, String)> = names.collect();
        names.iter().map(|(alias, name)| self.expr(&super::query::column_tree(Some(alias.clone()), name))).collect()
    }

    /// A call of a built-in or session function with bound arguments.
    pub(crate) fn named_call(&mut self, name: &str, arguments: Vec<Typed>) -> Result<Typed, Fault> {
        if name.eq_ignore_ascii_case("ISNULL") && arguments.len() == 2 {
            return is_null(arguments);
        }
        if let Some(function) = pikepole_types::lookup(name) {
            check_count(name, arguments.len(), function.min_args, function.max_args)?;
            self.reads_clock |= !function.deterministic;
            self.note_call(function, &arguments)?;
            let arguments =
                if name.eq_ignore_ascii_case("FORMATMESSAGE") { self.with_text(arguments) } else { arguments };
            return built_in(function, arguments, self.collation());
        }
        if name.eq_ignore_ascii_case("NEWSEQUENTIALID") && !self.whole_default {
            self.refuse_side_effect(name)?;
            return Err(Box::new(SqlError::sequential_id_outside_default()));
        }
        match self.names.host.function(name) {
            Some(function) => {
                self.undetermined();
                let (min, max) = (function.arguments_min, function.arguments_max);
                check_count(name, arguments.len(), min, max)?;
                refuse_text_or_image(name, &arguments)?;
                let arguments = arguments.into_iter().map(|argument| argument.expr).collect();
                let expr = Expr::Host(function.id, arguments);
                Ok(Typed::new(expr, function.result, true))
            }
            None => Err(Box::new(SqlError::name_not_recognized(name, "built-in function name"))),
        }
    }

    /// The arguments of FORMATMESSAGE, the number of a message replaced by its text, which the session finds.
    fn with_text(&self, mut arguments: Vec<Typed>) -> Vec<Typed> {
        if arguments[0].ty.is_integer()
            && let Some(function) = self.names.host.function("FORMATMESSAGE")
        {
            let number = arguments[0].expr.clone();
            arguments[0] = Typed::new(Expr::Host(function.id, vec![number].into()), function.result, true);
        }
        arguments
    }

    /// An aggregate of the innermost scope's rows.
    pub(super) fn aggregate(&mut self, call: &tree::FunctionCall, function: Aggregate) -> Result<Typed, Fault> {
        let scope = self.scope();
        if scope.in_aggregate {
            return Err(Box::new(SqlError::aggregate_of_aggregate()));
        }
        let Some(grouping) = &scope.grouping else {
            return Err(Box::new(match scope.clause {
                super::scope::Clause::GroupBy => SqlError::aggregate_in_group_by(),
                super::scope::Clause::Set => SqlError::aggregate_in_set_list(),
                super::scope::Clause::Output => SqlError::aggregate_in_output(),
                super::scope::Clause::On => SqlError::aggregate_in_on(),
                super::scope::Clause::Definition => SqlError::aggregate_in_definition(),
                _ => SqlError::aggregate_in_where(),
            }));
        };
        let known = grouping.aggregates.iter().find(|(tree, _, _)| tree == call);
        if let Some((.., result)) = known {
            return Ok(result.clone());
        }
        let counting = matches!(function, Aggregate::Count | Aggregate::CountBig);
        let input = if call.star {
            if !counting {
                return Err(Box::new(SqlError::incorrect_syntax("*")));
            }
            None
        } else {
            let count = if function == Aggregate::StringAgg { 2 } else { 1 };
            check_count(&call.name.name.text, call.arguments.len(), count, count)?;
            let argument = call.arguments.first().and_then(tree::FunctionArgument::expr);
            let argument = match (function, call.within_group.as_slice()) {
                (Aggregate::ApproxPercentile { .. }, [item]) => Some(&item.expr),
                (Aggregate::ApproxPercentile { .. }, _) => {
                    return Err(Box::new(SqlError::within_group_needed(&call.name.name.text)));
                }
                _ => argument,
            };
            let argument = argument.ok_or_else(|| SqlError::incorrect_syntax("DEFAULT"))?;
            Some(self.aggregate_input(argument)?)
        };
        let function = match (function, call.within_group.as_slice()) {
            (Aggregate::ApproxPercentile { continuous, .. }, [item]) => {
                Aggregate::ApproxPercentile { continuous, descending: item.descending }
            }
            (function, _) => function,
        };
        let (input, separator) = match (function, input) {
            (Aggregate::ApproxPercentile { .. }, input) => (input, Some(self.percentile_place(call)?)),
            (Aggregate::StringAgg, Some(input)) => {
                let (input, separator) = self.string_agg(call, input)?;
                (Some(input), Some(separator))
            }
            (_, input) => (input, None),
        };
        let is_ordered = matches!(function, Aggregate::StringAgg | Aggregate::ApproxPercentile { .. });
        if !call.within_group.is_empty() && !is_ordered {
            return Err(Box::new(SqlError::within_group_not_allowed(&call.name.name.text)));
        }
        let input_type = input.as_ref().map_or(SqlType::Int, |input| input.ty);
        if input.as_ref().is_some_and(|input| input.ty == SqlType::Null && input.undeclared.is_none()) && !is_ordered {
            return Err(Box::new(SqlError::operand_type_invalid("NULL", function.name())));
        }
        if !input_type.is_comparable() && (call.distinct || !counting) {
            return Err(Box::new(SqlError::operand_type_invalid(input_type.error_name(), function.name())));
        }
        let ty = aggregate_type(function, &input_type)?;
        let slot = self.register();
        let collated = input.as_ref().map_or(Collated::Default, |input| input.collated);
        let aggregate = plan::Aggregate {
            function,
            input: input.map(|input| input.expr),
            input_type,
            collation: collated.collation(call.name.name.as_str())?.comparing(&input_type),
            distinct: call.distinct || call.name.name.is("APPROX_COUNT_DISTINCT"),
            separator,
            slot,
        };
        let result = Typed::new(Expr::Slot(slot), ty, !counting).collated(collated);
        if let Some(grouping) = &mut self.scope().grouping {
            grouping.aggregates.push((call.clone(), aggregate, result.clone()));
        }
        Ok(result)
    }

    /// STRING_AGG: the text, what stands between, and the order of the rows.
    fn string_agg(&mut self, call: &tree::FunctionCall, input: Typed) -> Result<(Typed, Expr), Fault> {
        let input = match input.ty {
            ty if ty.is_string() && !ty.is_text_or_image() => input,
            ty if ty.is_text_or_image() => {
                return Err(Box::new(SqlError::argument_type_invalid(ty.error_name(), 1, "string_agg")));
            }
            ty => match pikepole_types::conversion(&ty, &NUMBER_TEXT) {
                pikepole_types::Conversion::Implicit => convert_to(input, &NUMBER_TEXT)?,
                _ => return Err(Box::new(SqlError::argument_type_invalid(ty.error_name(), 1, "string_agg"))),
            },
        };
        let separator = call.arguments.get(1).and_then(tree::FunctionArgument::expr);
        let separator = separator.ok_or_else(|| SqlError::incorrect_syntax("DEFAULT"))?;
        let is_variable = matches!(separator.kind, tree::ExprKind::Variable(_));
        // It is not of the rows that are grouped.
        let sources = std::mem::take(&mut self.scope().sources);
        let bound = self.expr(separator);
        self.scope().sources = sources;
        let reads_columns = |fault: &Fault| matches!(fault.number, 207 | 4104 | 8120);
        let separator = match bound {
            Err(fault) if reads_columns(&fault) => return Err(Box::new(SqlError::separator_not_constant())),
            bound => bound?,
        };
        if !is_variable && !separator.expr.is_const() {
            return Err(Box::new(SqlError::separator_not_constant()));
        }
        if !separator.ty.is_string() {
            let ty = separator.ty.error_name();
            return Err(Box::new(SqlError::argument_type_invalid(ty, 2, "string_agg")));
        }
        if !call.within_group.is_empty() {
            self.group_order(&call.within_group)?;
        }
        Ok((input, separator.expr))
    }

    /// The place that APPROX_PERCENTILE_CONT or APPROX_PERCENTILE_DISC is asked for: a constant, not of the rows that are grouped.
    fn percentile_place(&mut self, call: &tree::FunctionCall) -> Result<Expr, Fault> {
        let place = call.arguments.first().and_then(tree::FunctionArgument::expr);
        let place = place.ok_or_else(|| SqlError::incorrect_syntax("DEFAULT"))?;
        let sources = std::mem::take(&mut self.scope().sources);
        let bound = self.expr(place);
        self.scope().sources = sources;
        Ok(convert_to(bound?, &SqlType::Float)?.expr)
    }

    /// What WITHIN GROUP orders the rows by; all of a query must ask for the same.
    fn group_order(&mut self, items: &[tree::OrderItem]) -> Result<(), Fault> {
        let known = self.scope().grouping.as_ref().and_then(|grouping| grouping.order.as_ref());
        if let Some((known, _)) = known {
            return if known.as_slice() == items {
                Ok(())
            } else {
                Err(Box::new(SqlError::orders_of_aggregates_differ()))
            };
        }
        let mut keys = Vec::with_capacity(items.len());
        for item in items {
            if matches!(item.expr.kind, tree::ExprKind::Literal(tree::Literal::Int(_))) {
                return Err(Box::new(SqlError::window_order_by_position()));
            }
            let typed = self.aggregate_input(&item.expr)?;
            if !typed.expr.is_const() {
                keys.push(order_key(typed, item.descending, keys.len() + 1)?);
            }
        }
        if let Some(grouping) = &mut self.scope().grouping {
            grouping.order = Some((items.to_vec(), keys));
        }
        Ok(())
    }

    /// Keeps the calls of functions since `mark` for below the grouping that is being bound; subqueries cannot stand there.
    pub(super) fn below_groups(&mut self, mark: usize) -> Result<(), ()> {
        let calls = self.pending.split_off(mark);
        if !calls.iter().all(PendingApply::is_call) {
            return Err(());
        }
        self.scope().grouped_calls.extend(calls);
        Ok(())
    }

    fn aggregate_input(&mut self, argument: &tree::Expr) -> Result<Typed, Fault> {
        let mark = self.pending.len();
        self.scope().in_aggregate = true;
        let input = self.expr(argument);
        self.scope().in_aggregate = false;
        let input = input?;
        self.below_groups(mark).map_err(|()| SqlError::aggregate_of_aggregate())?;
        Ok(input)
    }
}

/// Functions whose results are never NULL, whatever they are given.
pub(super) const NEVER_NULL: [&str; 2] = ["CONCAT", "CONCAT_WS"];

/// Functions that take a `sql_variant` as it is; for all others it is to be converted first.
const TAKES_VARIANTS: [&str; 9] = [
    "CHECKSUM",
    "CHOOSE",
    "DATALENGTH",
    "GREATEST",
    "JSON_ARRAY",
    "JSON_OBJECT",
    "LEAST",
    "NULLIF",
    "SQL_VARIANT_PROPERTY",
];

/// Functions that take `text`, `ntext` and `image`, and the place of the argument that may be one.
const TAKES_TEXTS: [(&str, usize); 4] = [("CHARINDEX", 1), ("DATALENGTH", 0), ("PATINDEX", 1), ("SUBSTRING", 0)];

/// Refuses `text`, `ntext` and `image` where a function does not take them: few do, and those that search in texts search no `image`.
fn refuse_text_or_image(name: &str, arguments: &[Typed]) -> Result<(), Fault> {
    let of_function = TAKES_TEXTS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let taken = of_function.map(|(_, place)| *place);
    let searches = taken == Some(1);
    let is_refused = |(place, argument): &(usize, &Typed)| {
        argument.ty.is_text_or_image() && (taken != Some(*place) || searches && argument.ty == SqlType::Image)
    };
    match arguments.iter().enumerate().find(is_refused) {
        None => Ok(()),
        Some((place, argument)) => {
            let (ty, name) = (argument.ty.error_name(), name.to_ascii_lowercase());
            Err(Box::new(SqlError::argument_type_invalid(ty, place + 1, name)))
        }
    }
}

/// What STRING_AGG makes of values that are no text.
const NUMBER_TEXT: SqlType = SqlType::NVarChar(Length::Limit(4000));

/// The aggregate function of a name.
pub(crate) fn aggregate(name: &str) -> Option<Aggregate> {
    if name.eq_ignore_ascii_case("APPROX_COUNT_DISTINCT") {
        return Some(Aggregate::CountBig);
    }
    Aggregate::by_name(name)
}

pub(super) fn is_system(schema: &str) -> bool {
    schema.eq_ignore_ascii_case("sys")
}

/// ISNULL has the type of its first argument.
fn is_null(arguments: Vec<Typed>) -> Result<Typed, Fault> {
    let mut arguments = arguments.into_iter();
    let (Some(first), Some(second)) = (arguments.next(), arguments.next()) else {
        return Err(Box::new(SqlError::function_needs_arguments("isnull", 2)));
    };
    let ty = if first.ty == SqlType::Null { second.ty } else { first.ty };
    first.want(&ty);
    second.want(&ty);
    let nullable = first.nullable && second.nullable;
    // As its type, it has the collation of its first argument, whatever the second's is.
    let collated = if first.ty.is_string() { first.collated } else { second.collated };
    let same_page = !ty.is_string() || second.page() == collated.shown().code_page();
    let second = if second.ty == ty && same_page || second.ty == SqlType::Null {
        second.expr
    } else if Width::of(&second.ty).is_some() && Width::of(&ty).is_some() {
        convert_to(second, &ty)?.expr
    } else {
        super::assign_to(second, &ty, collated.shown(), None)?
    };
    Ok(Typed::new(Expr::Coalesce(Box::new([first.expr, second])), ty, nullable).collated(collated))
}

/// A call of a function of the types, with as many arguments as it takes, in a database of the collation `default`.
pub(super) fn built_in(function: &'static Function, arguments: Vec<Typed>, default: Collation) -> Result<Typed, Fault> {
    let types: Box<[SqlType]> = arguments.iter().map(|argument| argument.ty).collect();
    if let Some(place) = types.iter().position(|ty| *ty == SqlType::Variant)
        && !TAKES_VARIANTS.contains(&function.name)
    {
        let (ty, name) = (SqlType::Variant.error_name(), function.name.to_ascii_lowercase());
        return Err(Box::new(SqlError::argument_type_invalid(ty, place + 1, name)));
    }
    if function.name == "SQL_VARIANT_PROPERTY" {
        fits_variant(&types[0])?;
    }
    if let Some(place) = types.iter().position(|ty| matches!(ty, SqlType::Xml | SqlType::Clr(_)))
        && function.name != "DATALENGTH"
    {
        let (ty, name) = (types[place].error_name(), function.name.to_ascii_lowercase());
        return Err(Box::new(SqlError::argument_type_invalid(ty, place + 1, name)));
    }
    refuse_text_or_image(function.name, &arguments)?;
    let ty = with_scale((function.result_type)(&types)?, function.name, &arguments)?;
    let part = match arguments.first().map(|argument| &argument.expr) {
        Some(Expr::Const(Value::Str(part))) => Some(part.as_str()),
        _ => None,
    };
    let is_fixed = function.deterministic && !function.reads_session(part);
    // Texts may be read as dates, and dates as texts, whatever the function.
    let as_text = if function.date_part { SqlType::Null } else { SqlType::VarChar(Length::Max) };
    let waits =
        |argument: &Typed| reads_session(&argument.expr, &SqlType::DateTime) || reads_session(&argument.expr, &as_text);
    let constant = is_fixed && arguments.iter().all(|argument| argument.expr.is_const() && !waits(argument));
    let (collated, collation) = of_call(function.name, &arguments, default)?;
    let ty = with_counts(ty, function.name, &arguments, collation);
    let arguments = arguments.into_iter().map(|argument| argument.expr).collect();
    let nullable = !types.is_empty() && !NEVER_NULL.contains(&function.name);
    let expr = Expr::Call(Box::new(Call { function, arguments, types, collation }));
    let typed = Typed::new(expr, ty, nullable).collated(collated);
    Ok(if constant { typed.folded() } else { typed })
}

/// Refuses what a `sql_variant` cannot hold.
fn fits_variant(ty: &SqlType) -> Result<(), Fault> {
    let too_long = ty.is_max() && !ty.is_text_or_image() && !matches!(ty, SqlType::Xml | SqlType::Clr(_));
    if too_long || ty.is_text_or_image() || matches!(ty, SqlType::Xml | SqlType::Clr(_)) {
        let shown = format!("{}{}", ty.error_name(), if too_long { "(max)" } else { "" });
        return Err(Box::new(SqlError::operand_type_clash(shown, SqlType::Variant.error_name())));
    }
    Ok(())
}

/// The type of a text or binary whose length constants among the arguments say.
fn with_counts(ty: SqlType, function: &str, arguments: &[Typed], collation: Collation) -> SqlType {
    // Where characters are longer than a unit of the type, they are what is counted.
    let by_units = !collation.counts_characters() && (ty.is_unicode() || collation.code_page().width_max() == 1);
    let count = |at: usize| match arguments.get(at).map(|argument| &argument.expr) {
        Some(Expr::Const(value)) => value.as_i64().and_then(|count| usize::try_from(count).ok()),
        _ => None,
    };
    let limit = |at: usize| {
        let ty = arguments.get(at).map(|argument| argument.ty).filter(|ty| ty.is_string() || ty.is_binary());
        ty.and_then(|ty| ty.declared_length()).map(Length::limit)
    };
    let wanted = match function {
        "LEFT" | "RIGHT" => count(1),
        "SUBSTRING" => count(1).and(count(2)),
        "REPLICATE" => limit(0).zip(count(1)).map(|(limit, count)| limit.saturating_mul(count)),
        "SPACE" => count(0),
        "STUFF" => limit(0).zip(count(1)).zip(count(2)).zip(limit(3)).and_then(|(((limit, start), gone), by)| {
            let before = start.checked_sub(1)?;
            let kept = before.min(limit).saturating_add(limit.saturating_sub(before.saturating_add(gone)));
            Some(kept.saturating_add(by))
        }),
        _ => None,
    };
    let (Some(wanted), Some(Length::Limit(most)), true) = (wanted, ty.declared_length(), by_units) else { return ty };
    let length = Length::Limit(wanted.clamp(1, usize::from(most)) as u16);
    match ty {
        SqlType::VarChar(_) => SqlType::VarChar(length),
        SqlType::NVarChar(_) => SqlType::NVarChar(length),
        SqlType::VarBinary(_) => SqlType::VarBinary(length),
        other => other,
    }
}

/// The type of TIMEFROMPARTS and its kin, whose digits behind the second their last argument says.
fn with_scale(ty: SqlType, function: &str, arguments: &[Typed]) -> Result<SqlType, Fault> {
    let of_scale = match function {
        "TIMEFROMPARTS" => SqlType::Time,
        "DATETIME2FROMPARTS" => SqlType::DateTime2,
        "DATETIMEOFFSETFROMPARTS" => SqlType::DateTimeOffset,
        _ => return Ok(ty),
    };
    let scale = match arguments.last().map(|argument| &argument.expr) {
        Some(Expr::Const(value)) => value.as_i64(),
        _ => None,
    };
    let scale = scale.ok_or_else(|| SqlError::scale_not_constant(ty.error_name()))?;
    match u8::try_from(scale) {
        Ok(scale @ 0..=7) => Ok(of_scale(scale)),
        _ => Err(Box::new(SqlError::scale_invalid(scale))),
    }
}

/// The bare word of `DATEADD(day, ...)` or `ISJSON(x, OBJECT)`.
fn bare_word(function: &str, index: usize, expr: &tree::Expr) -> Result<Typed, Fault> {
    let word = match &expr.kind {
        tree::ExprKind::Column(column) if column.qualifier.is_none() => &column.name.text,
        _ => {
            return Err(Box::new(SqlError::invalid_date_part_parameter(index + 1, function.to_ascii_lowercase())));
        }
    };
    let ty = SqlType::VarChar(Length::Limit(32));
    Ok(Typed::constant(Value::Str(word.clone()), ty))
}

pub(crate) fn check_count(name: &str, count: usize, minimum: usize, maximum: usize) -> Result<(), Fault> {
    if (minimum..=maximum).contains(&count) {
        return Ok(());
    }
    let name = name.to_ascii_lowercase();
    Err(Box::new(if minimum == maximum {
        SqlError::function_needs_arguments(name, minimum)
    } else {
        SqlError::function_needs_argument_range(name, minimum, maximum)
    }))
}
