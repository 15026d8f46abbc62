//! CREATE, ALTER and DROP SEQUENCE: what their options say becomes a definition.

use super::Definer;
use crate::bind::{self, Declared};
use crate::expression::Fault;
use pikepole_engine::{Position, SequenceCache, SequenceRecord};
use pikepole_tsql::{self as tree, SequenceOption};
use pikepole_types::{SqlError, SqlType};

/// What the options of a statement say; each once at most.
#[derive(Debug, Clone, Default)]
struct Wishes {
    ty: Option<SqlType>,
    start: Option<i128>,
    restart: Option<Option<i128>>,
    increment: Option<i128>,
    minimum: Option<Option<i128>>,
    maximum: Option<Option<i128>>,
    cycle: Option<bool>,
    cache: Option<SequenceCache>,
}

/// The smallest and the largest number of a type; None: no sequence can be of it.
fn bounds(ty: &SqlType) -> Option<(i128, i128)> {
    Some(match ty {
        SqlType::TinyInt => (0, 255),
        SqlType::SmallInt => (i16::MIN.into(), i16::MAX.into()),
        SqlType::Int => (i32::MIN.into(), i32::MAX.into()),
        SqlType::BigInt => (i64::MIN.into(), i64::MAX.into()),
        SqlType::Decimal { precision, scale: 0 } => {
            let most = 10i128.pow(u32::from(*precision)) - 1;
            (-most, most)
        }
        _ => return None,
    })
}

fn number(expr: &tree::Expr, option: &str) -> Result<i128, Fault> {
    let text = expr.to_string();
    let text: String = text.chars().filter(|c| !matches!(c, '(' | ')' | ' ' | '+')).collect();
    text.parse().map_err(|_| Box::new(SqlError::sequence_argument_invalid(option)))
}

fn set<T>(place: &mut Option<T>, value: T, option: &str) -> Result<(), Fault> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Box::new(SqlError::sequence_argument_twice(option))),
    }
}

impl Definer<'_> {
    /// CREATE SEQUENCE and ALTER SEQUENCE.
    pub(crate) async fn define_sequence(&mut self, create: &tree::CreateSequence) -> Result<(), Fault> {
        let schema = self.schema_of(&create.name, false)?;
        let wishes = self.sequence_wishes(create)?;
        let name = create.name.name.text.as_str();
        let (database, tx) = self.context.engine();
        if !create.alter {
            let record = new_record(&schema, name, &wishes)?;
            return Ok(database.create_sequence(tx, record).await?);
        }
        let change = move |record: &mut SequenceRecord| altered(record, &wishes).map_err(|fault| *fault);
        Ok(database.alter_sequence(tx, &schema, name, &change).await?)
    }

    fn sequence_wishes(&self, create: &tree::CreateSequence) -> Result<Wishes, Fault> {
        let mut wishes = Wishes::default();
        if create.alter && create.options.is_empty() {
            return Err(Box::new(SqlError::sequence_unchanged()));
        }
        for option in &create.options {
            match option {
                SequenceOption::Type(_) if create.alter => return Err(Box::new(SqlError::not_in_alter_sequence("AS"))),
                SequenceOption::Start(_) if create.alter => {
                    return Err(Box::new(SqlError::not_in_alter_sequence("START WITH")));
                }
                SequenceOption::Restart(_) if !create.alter => {
                    return Err(Box::new(SqlError::restart_in_create_sequence()));
                }
                SequenceOption::Type(written) => {
                    let catalog = self.context.catalog();
                    let declared = bind::declared(&catalog.catalog, written, 1)?;
                    let ty = match declared {
                        Declared::System(ty) | Declared::Second(_, ty) | Declared::Alias(_, ty) => Some(ty),
                        Declared::Table(_) => None,
                    };
                    let wrong = || Box::new(SqlError::sequence_type_invalid(&create.name.name.text));
                    set(&mut wishes.ty, ty.filter(|ty| bounds(ty).is_some()).ok_or_else(wrong)?, "AS")?;
                }
                SequenceOption::Start(value) => set(&mut wishes.start, number(value, "START WITH")?, "START WITH")?,
                SequenceOption::Restart(value) => {
                    let value = value.as_ref().map(|value| number(value, "RESTART WITH")).transpose()?;
                    set(&mut wishes.restart, value, "RESTART WITH")?;
                }
                SequenceOption::Increment(value) => {
                    set(&mut wishes.increment, number(value, "INCREMENT BY")?, "INCREMENT BY")?;
                }
                SequenceOption::Minimum(value) => {
                    let value = value.as_ref().map(|value| number(value, "MINVALUE")).transpose()?;
                    set(&mut wishes.minimum, value, "MINVALUE")?;
                }
                SequenceOption::Maximum(value) => {
                    let value = value.as_ref().map(|value| number(value, "MAXVALUE")).transpose()?;
                    set(&mut wishes.maximum, value, "MAXVALUE")?;
                }
                SequenceOption::Cycle(cycle) => set(&mut wishes.cycle, *cycle, "CYCLE")?,
                SequenceOption::Cache(None) => set(&mut wishes.cache, SequenceCache::Default, "CACHE")?,
                SequenceOption::Cache(Some(size)) => {
                    let size = u32::try_from(number(size, "CACHE")?).ok().filter(|size| *size > 0);
                    let wrong = || Box::new(SqlError::sequence_cache_invalid(&create.name.name.text));
                    set(&mut wishes.cache, SequenceCache::Size(size.ok_or_else(wrong)?), "CACHE")?;
                }
                SequenceOption::NoCache => set(&mut wishes.cache, SequenceCache::Off, "CACHE")?,
            }
        }
        Ok(wishes)
    }

    /// DROP SEQUENCE.
    pub(crate) async fn drop_sequence(&mut self, name: &tree::ObjectName, schema: &str) -> Result<(), Fault> {
        let text = name.name.text.as_str();
        let (schema_name, own) = (schema.to_owned(), text.to_owned());
        let names = move |default: &str| names_sequence(default, &schema_name, &own);
        let (database, tx) = self.context.engine();
        Ok(database.drop_sequence(tx, schema, text, &names).await?)
    }
}

/// Whether the text of a DEFAULT takes numbers of a sequence.
pub fn names_sequence(default: &str, schema: &str, name: &str) -> bool {
    let Ok(expr) = tree::parse_expression(default) else { return false };
    takes_number(&expr, &|own| own.schema_str().unwrap_or("dbo").eq_ignore_ascii_case(schema) && own.name.is(name))
}

/// Whether an expression of a DEFAULT takes numbers of a sequence that `is_it`.
fn takes_number(expr: &tree::Expr, is_it: &dyn Fn(&tree::ObjectName) -> bool) -> bool {
    use tree::ExprKind;
    match &expr.kind {
        ExprKind::NextValue(next) => is_it(&next.sequence),
        ExprKind::Unary(_, inner) | ExprKind::Collate(inner, _) => takes_number(inner, is_it),
        ExprKind::Chain(chain) => chain.operands().any(|operand| takes_number(operand, is_it)),
        ExprKind::Cast(cast) => takes_number(&cast.expr, is_it),
        ExprKind::Convert(convert) => takes_number(&convert.expr, is_it),
        ExprKind::Function(call) => {
            call.arguments.iter().filter_map(tree::FunctionArgument::expr).any(|inner| takes_number(inner, is_it))
        }
        _ => false,
    }
}

fn new_record(schema: &str, name: &str, wishes: &Wishes) -> Result<SequenceRecord, Fault> {
    let ty = wishes.ty.unwrap_or(SqlType::BigInt);
    let (least, most) = bounds(&ty).unwrap_or((0, 0));
    let increment = wishes.increment.unwrap_or(1);
    let minimum = wishes.minimum.flatten().unwrap_or(least);
    let maximum = wishes.maximum.flatten().unwrap_or(most);
    let start = wishes.start.unwrap_or(if increment < 0 { maximum } else { minimum });
    let record = SequenceRecord {
        object_id: 0,
        schema_id: 0,
        schema: schema.to_owned(),
        name: name.to_owned(),
        ty,
        start,
        position: Position::at(start),
        increment,
        minimum,
        maximum,
        cycle: wishes.cycle.unwrap_or(false),
        cache: wishes.cache.unwrap_or(SequenceCache::Default),
        generation: 0,
        created_us: 0,
        modified_us: 0,
    };
    check(&record)?;
    if !(minimum..=maximum).contains(&start) {
        return Err(Box::new(SqlError::sequence_start_invalid(name)));
    }
    Ok(record)
}

/// Makes the new definition of the present one, which stands at its position.
fn altered(record: &mut SequenceRecord, wishes: &Wishes) -> Result<(), Fault> {
    let (least, most) = bounds(&record.ty).unwrap_or((0, 0));
    if let Some(minimum) = wishes.minimum {
        record.minimum = minimum.unwrap_or(least);
    }
    if let Some(maximum) = wishes.maximum {
        record.maximum = maximum.unwrap_or(most);
    }
    record.cycle = wishes.cycle.unwrap_or(record.cycle);
    record.cache = wishes.cache.unwrap_or(record.cache);
    let unused = record.position.next == record.position.last && !record.position.exhausted;
    if let Some(increment) = wishes.increment {
        record.increment = increment;
    }
    check(record)?;
    let within = |number: i128, record: &SequenceRecord| (record.minimum..=record.maximum).contains(&number);
    match wishes.restart {
        Some(start) => {
            let start = start.unwrap_or(record.start);
            if !within(start, record) {
                return Err(Box::new(SqlError::sequence_start_invalid(&record.name)));
            }
            record.start = start;
            record.position = Position::at(start);
        }
        None if unused => {}
        None => {
            let last = record.position.last;
            if !within(last, record) {
                return Err(Box::new(SqlError::sequence_value_invalid(last, &record.name)));
            }
            let next = last.checked_add(record.increment).filter(|next| within(*next, record));
            record.position = match next {
                Some(next) => Position { next, last, exhausted: false },
                None => Position { next: last, last, exhausted: true },
            };
        }
    }
    if record.position.exhausted || within(record.position.next, record) {
        return Ok(());
    }
    Err(Box::new(SqlError::sequence_value_invalid(record.position.next, &record.name)))
}

/// What must hold of every sequence.
fn check(record: &SequenceRecord) -> Result<(), Fault> {
    let name = &record.name;
    let (least, most) = bounds(&record.ty).unwrap_or((0, 0));
    let within = |number: i128| (least..=most).contains(&number);
    let wrong = |option: &str| Err(Box::new(SqlError::sequence_argument_invalid(option)));
    if !within(record.minimum) {
        return wrong("MINVALUE");
    }
    if !within(record.maximum) {
        return wrong("MAXVALUE");
    }
    if record.increment == 0 {
        return Err(Box::new(SqlError::sequence_increment_zero(name)));
    }
    if record.minimum >= record.maximum {
        return Err(Box::new(SqlError::sequence_bounds_invalid(name)));
    }
    if record.increment.unsigned_abs() > record.maximum.abs_diff(record.minimum) {
        return Err(Box::new(SqlError::sequence_increment_large(name)));
    }
    Ok(())
}
