//! Definitions of tables as the test knows them, by the names of columns, and what can be done to them.

use crate::mutate::Random;

/// What a statement fails with because of the rows that there are: keys that repeat, rows that refer to nothing or are referred to,
/// checks that do not hold, NULLs, a key that others refer to.
const OF_ROWS: &[&str] =
    &["1505", "547", "515", "2627", "2601", "3728", "3725", "1785", "8111", "3621", "4901", "1750"];

#[derive(Debug, Clone)]
pub struct Column {
    name: String,
    ty: &'static str,
    not_null: bool,
    default: Option<(String, i32)>,
    computed: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Key {
    name: String,
    columns: Vec<String>,
    primary: bool,
    clustered: bool,
}

#[derive(Debug, Clone)]
pub struct Index {
    name: String,
    columns: Vec<String>,
    included: Vec<String>,
    filter: Option<String>,
    unique: bool,
}

#[derive(Debug, Clone)]
pub struct Reference {
    name: String,
    columns: Vec<String>,
    table: usize,
    referred: Vec<String>,
    /// The key that is referred to.
    key: String,
    actions: &'static str,
}

#[derive(Debug, Clone)]
pub struct Check {
    name: String,
    columns: Vec<String>,
    text: String,
}

#[derive(Debug, Clone, Default)]
pub struct Table {
    columns: Vec<Column>,
    keys: Vec<Key>,
    indexes: Vec<Index>,
    references: Vec<Reference>,
    checks: Vec<Check>,
}

/// The tables, and how many names were given so far.
#[derive(Debug, Clone)]
pub struct Schema {
    tables: Vec<Table>,
    names: usize,
}

/// A change of a definition.
pub struct Alteration {
    pub text: String,
    pub after: Schema,
    /// Errors that rows can be the reason of.
    pub may_fail: &'static [&'static str],
}

/// Of few types, so that references find columns that fit.
const TYPES: [&str; 6] = ["int", "int", "int", "int", "varchar(12)", "bigint"];

impl Column {
    fn definition(&self) -> String {
        if let Some(computed) = &self.computed {
            return format!("{} AS {computed}", self.name);
        }
        let null = if self.not_null { "NOT NULL" } else { "NULL" };
        let default = self.default.as_ref().map(|(name, value)| format!(" CONSTRAINT {name} DEFAULT {value}"));
        format!("{} {} {null}{}", self.name, self.ty, default.unwrap_or_default())
    }
}

impl Key {
    fn definition(&self) -> String {
        let kind = if self.primary { "PRIMARY KEY" } else { "UNIQUE" };
        let clustered = if self.clustered { "CLUSTERED" } else { "NONCLUSTERED" };
        format!("CONSTRAINT {} {kind} {clustered} ({})", self.name, self.columns.join(", "))
    }
}

impl Index {
    fn text(&self, schema: &str, table: usize) -> String {
        let included =
            if self.included.is_empty() { String::new() } else { format!(" INCLUDE ({})", self.included.join(", ")) };
        let filter = self.filter.as_ref().map(|filter| format!(" WHERE {filter}")).unwrap_or_default();
        let unique = if self.unique { "UNIQUE " } else { "" };
        let columns = self.columns.join(", ");
        format!("CREATE {unique}INDEX {} ON {schema}.t{table} ({columns}){included}{filter}", self.name)
    }
}

impl Reference {
    fn definition(&self, schema: &str) -> String {
        let (own, other) = (self.columns.join(", "), self.referred.join(", "));
        let (name, table, actions) = (&self.name, self.table, self.actions);
        format!("CONSTRAINT {name} FOREIGN KEY ({own}) REFERENCES {schema}.t{table} ({other}){actions}")
    }
}

impl Table {
    fn plain(&self) -> Vec<&Column> {
        self.columns.iter().filter(|column| column.computed.is_none()).collect()
    }

    /// Whether a key, an index, a reference, a check or a computed column names the column.
    fn uses(&self, name: &str) -> bool {
        let is_in = |columns: &[String]| columns.iter().any(|column| column == name);
        self.keys.iter().any(|key| is_in(&key.columns))
            || self.indexes.iter().any(|index| is_in(&index.columns) || is_in(&index.included) || index.filters(name))
            || self.references.iter().any(|reference| is_in(&reference.columns))
            || self.checks.iter().any(|check| is_in(&check.columns))
            || self.columns.iter().any(|column| column.computed.as_ref().is_some_and(|text| text.contains(name)))
    }
}

impl Index {
    fn filters(&self, name: &str) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.contains(name))
    }
}

fn chosen<'a, T>(random: &mut Random, of: &'a [T]) -> Option<&'a T> {
    of.get(random.below(of.len()))
}

/// Some columns of a list, in any order, at least one.
fn some(random: &mut Random, columns: &[String], most: usize) -> Vec<String> {
    let mut left = columns.to_vec();
    let count = 1 + random.below(most.min(left.len()));
    (0..count.min(left.len())).map(|_| left.remove(random.below(left.len()))).collect()
}

impl Schema {
    /// Three tables of some columns.
    pub fn new(random: &mut Random) -> Schema {
        let mut schema = Schema { tables: vec![Table::default(); 3], names: 0 };
        for at in 0..schema.tables.len() {
            for _ in 0..3 + random.below(4) {
                let column = schema.column(random);
                schema.tables[at].columns.push(column);
            }
        }
        schema
    }

    /// What alters tables before they have rows: keys, and references to them.
    pub fn first_alteration(&self, random: &mut Random) -> Option<Alteration> {
        let (mut after, at) = (self.clone(), random.below(self.tables.len()));
        let text = if random.below(3) == 0 { after.add_key(random, at) } else { after.add_reference(random, at) };
        text.map(|text| Alteration { text, after, may_fail: OF_ROWS })
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        // Two digits, so that no name is a part of another.
        format!("{prefix}{:03}", self.names)
    }

    fn column(&mut self, random: &mut Random) -> Column {
        let ty = TYPES[random.below(TYPES.len())];
        let default = (random.below(3) > 0).then(|| (self.name("df"), random.below(4) as i32));
        let not_null = default.is_some() && random.below(2) == 0;
        Column { name: self.name("c"), ty, not_null, default, computed: None }
    }

    /// What makes the tables, without rows.
    pub fn made(&self, schema: &str) -> Vec<String> {
        let mut made = Vec::new();
        for (at, table) in self.tables.iter().enumerate() {
            let columns = table.columns.iter().map(Column::definition);
            let parts: Vec<String> = columns.chain(table.keys.iter().map(Key::definition)).collect();
            made.push(format!("CREATE TABLE {schema}.t{at} ({})", parts.join(", ")));
        }
        made
    }

    /// What makes the tables with copies of the rows of `dbo`, then everything that rows have to obey.
    pub fn made_anew(&self, schema: &str) -> Vec<String> {
        let mut made = self.made(schema);
        for (at, table) in self.tables.iter().enumerate() {
            let columns: Vec<&str> = table.plain().iter().map(|column| column.name.as_str()).collect();
            let columns = columns.join(", ");
            made.push(format!("INSERT {schema}.t{at} ({columns}) SELECT {columns} FROM dbo.t{at}"));
        }
        for (at, table) in self.tables.iter().enumerate() {
            made.extend(table.indexes.iter().map(|index| index.text(schema, at)));
            let checks = table.checks.iter().map(|check| format!("CONSTRAINT {} CHECK ({})", check.name, check.text));
            let references = table.references.iter().map(|reference| reference.definition(schema));
            made.extend(checks.chain(references).map(|rule| format!("ALTER TABLE {schema}.t{at} ADD {rule}")));
        }
        made
    }

    pub fn dropped(&self, schema: &str) -> Vec<String> {
        let mut dropped = Vec::new();
        for (at, table) in self.tables.iter().enumerate() {
            let references = table.references.iter();
            dropped.extend(
                references.map(|reference| format!("ALTER TABLE {schema}.t{at} DROP CONSTRAINT {}", reference.name)),
            );
        }
        dropped.extend((0..self.tables.len()).map(|at| format!("DROP TABLE {schema}.t{at}")));
        dropped
    }

    /// All rows of each table, by each index.
    pub fn queries(&self) -> Vec<impl Fn(&str) -> String + use<>> {
        let mut queries = Vec::new();
        for (at, table) in self.tables.iter().enumerate() {
            let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            let places: Vec<String> = (1..=names.len()).map(|place| place.to_string()).collect();
            let (names, order) = (names.join(", "), places.join(", "));
            let mut hints = vec![String::new()];
            let filterless = table.indexes.iter().filter(|index| index.filter.is_none());
            let named = filterless.map(|index| &index.name).chain(table.keys.iter().map(|key| &key.name));
            hints.extend(named.map(|name| format!(" WITH (INDEX ({name}))")));
            queries.extend(hints.into_iter().map(|hint| {
                let (names, order) = (names.clone(), order.clone());
                move |schema: &str| format!("SELECT {names} FROM {schema}.t{at}{hint} ORDER BY {order}")
            }));
        }
        queries
    }

    /// A change of rows.
    pub fn statement(&self, random: &mut Random) -> impl Fn(&str) -> String + use<> {
        let at = random.below(self.tables.len());
        let table = &self.tables[at];
        let plain = table.plain();
        let value = |random: &mut Random| match random.below(6) {
            0 => "NULL".to_owned(),
            digit => digit.to_string(),
        };
        let column = |random: &mut Random| plain[random.below(plain.len())].name.clone();
        let (before, after) = match random.below(6) {
            0 => (
                "UPDATE".to_owned(),
                format!("SET {} = {} WHERE {} = {}", column(random), value(random), column(random), value(random)),
            ),
            1 => ("UPDATE".to_owned(), format!("SET {} = {}", column(random), value(random))),
            2 => ("DELETE".to_owned(), format!("WHERE {} = {}", column(random), value(random))),
            3 => ("INSERT".to_owned(), "DEFAULT VALUES".to_owned()),
            _ => {
                let rows: Vec<String> = (0..1 + random.below(2))
                    .map(|_| plain.iter().map(|_| value(random)).collect::<Vec<_>>().join(", "))
                    .collect();
                ("INSERT".to_owned(), format!("VALUES ({})", rows.join("), (")))
            }
        };
        move |schema| format!("{before} {schema}.t{at} {after}")
    }

    /// A change of a definition, when the one that chance wants is possible.
    pub fn alteration(&self, random: &mut Random) -> Option<Alteration> {
        let at = random.below(self.tables.len());
        let mut after = self.clone();
        let text = match random.below(16) {
            0..=2 => after.add_column(random, at),
            3..=5 => after.drop_column(random, at),
            6 => after.alter_column(random, at),
            7 => after.rename_column(random, at),
            8 => after.add_key(random, at),
            9 | 10 => after.add_index(random, at),
            11 | 12 => after.add_reference(random, at),
            13 => after.add_check(random, at),
            14 => after.add_computed(random, at),
            _ => after.drop_something(random, at),
        };
        text.map(|text| Alteration { text, after, may_fail: OF_ROWS })
    }

    fn add_column(&mut self, random: &mut Random, at: usize) -> Option<String> {
        let column = self.column(random);
        let text = format!("ALTER TABLE t{at} ADD {}", column.definition());
        self.tables[at].columns.push(column);
        (self.tables[at].columns.len() < 12).then_some(text)
    }

    fn drop_column(&mut self, random: &mut Random, at: usize) -> Option<String> {
        let table = &mut self.tables[at];
        let place = random.below(table.columns.len());
        let column = table.columns[place].clone();
        if table.uses(&column.name) || (column.computed.is_none() && table.plain().len() < 3) {
            return None;
        }
        table.columns.remove(place);
        let constraint = column.default.map(|(name, _)| format!("CONSTRAINT {name}, ")).unwrap_or_default();
        Some(format!("ALTER TABLE t{at} DROP {constraint}COLUMN {}", column.name))
    }

    fn alter_column(&mut self, random: &mut Random, at: usize) -> Option<String> {
        let table = &mut self.tables[at];
        let place = random.below(table.columns.len());
        if table.columns[place].computed.is_some() || table.uses(&table.columns[place].name) {
            return None;
        }
        let column = &mut table.columns[place];
        // A column with a default keeps its type, but for its length.
        column.ty = match column.ty {
            "varchar(12)" if column.default.is_some() => "varchar(30)",
            kept if column.default.is_some() => kept,
            "int" => "bigint",
            "varchar(12)" => "nvarchar(30)",
            "bigint" => "decimal(9, 2)",
            other => other,
        };
        column.not_null = random.below(2) == 0;
        let null = if column.not_null { "NOT NULL" } else { "NULL" };
        Some(format!("ALTER TABLE t{at} ALTER COLUMN {} {} {null}", column.name, column.ty))
    }

    fn rename_column(&mut self, random: &mut Random, at: usize) -> Option<String> {
        let new = self.name("c");
        let table = &mut self.tables[at];
        let place = random.below(table.columns.len());
        let old = table.columns[place].name.clone();
        let enforced = table.checks.iter().any(|check| check.columns.contains(&old))
            || table.columns.iter().any(|column| column.computed.as_ref().is_some_and(|text| text.contains(&old)))
            || table.indexes.iter().any(|index| index.filters(&old));
        if enforced {
            return None;
        }
        table.columns[place].name.clone_from(&new);
        let keys = table.keys.iter_mut().map(|key| &mut key.columns);
        let indexes = table.indexes.iter_mut().flat_map(|index| [&mut index.columns, &mut index.included]);
        let references = table.references.iter_mut().map(|reference| &mut reference.columns);
        let own = keys.chain(indexes).chain(references).flatten();
        own.filter(|column| **column == old).for_each(|column| column.clone_from(&new));
        let referring = self.tables.iter_mut().flat_map(|table| &mut table.references);
        let referred =
            referring.filter(|reference| reference.table == at).flat_map(|reference| &mut reference.referred);
        referred.filter(|column| **column == old).for_each(|column| column.clone_from(&new));
        Some(format!("EXEC sp_rename 't{at}.{old}', '{new}', 'COLUMN'"))
    }

    fn add_key(&mut self, random: &mut Random, at: usize) -> Option<String> {
        let name = self.name("k");
        let table = &mut self.tables[at];
        let primary = !table.keys.iter().any(|key| key.primary) && random.below(2) == 0;
        let clustered = !table.keys.iter().any(|key| key.clustered) && random.below(2) == 0;
        let fit = table.plain().into_iter().filter(|column| column.not_null || !primary);
        let columns: Vec<String> = fit.map(|column| column.name.clone()).collect();
        let columns = if columns.is_empty() { return None } else { some(random, &columns, 2) };
        let key = Key { name, columns, primary, clustered };
        let text = format!("ALTER TABLE t{at} ADD {}", key.definition());
        table.keys.push(key);
        (table.keys.len() < 4).then_some(text)
    }

    fn add_index(&mut self, random: &mut Random, at: usize) -> Option<String> {
        let name = self.name("i");
        let table = &mut self.tables[at];
        let all: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
        let columns = some(random, &all, 2);
        let rest: Vec<String> = all.into_iter().filter(|column| !columns.contains(column)).collect();
        let included = if rest.is_empty() || random.below(2) == 0 { Vec::new() } else { some(random, &rest, 2) };
        let plain: Vec<String> = table.plain().into_iter().map(|column| column.name.clone()).collect();
        let filter = (random.below(3) == 0).then(|| format!("{} IS NOT NULL", plain[random.below(plain.len())]));
        let index = Index { name, columns, included, filter, unique: random.below(3) == 0 };
        let text = index.text("dbo", at);
        table.indexes.push(index);
        (table.indexes.len() < 4).then_some(text)
    }

    /// A reference to a key of any table, of columns that have its columns' types.
    fn add_reference(&mut self, random: &mut Random, at: usize) -> Option<String> {
        let name = self.name("fk");
        let target = random.below(self.tables.len());
        let key = chosen(random, &self.tables[target].keys)?.clone();
        let mut referred = key.columns.clone();
        if referred.len() > 1 && random.below(2) == 0 {
            referred.reverse();
        }
        let mut columns = Vec::new();
        for other in &referred {
            let ty = self.tables[target].columns.iter().find(|column| column.name == *other)?.ty;
            let plain = self.tables[at].plain();
            let fit: Vec<&&Column> =
                plain.iter().filter(|column| column.ty == ty && !columns.contains(&column.name)).collect();
            columns.push(chosen(random, &fit)?.name.clone());
        }
        let actions = ["", " ON DELETE CASCADE", " ON UPDATE CASCADE", " ON DELETE CASCADE ON UPDATE CASCADE"];
        let actions = if target == at { "" } else { actions[random.below(actions.len())] };
        let reference = Reference { name, columns, table: target, referred, key: key.name, actions };
        let text = format!("ALTER TABLE t{at} ADD {}", reference.definition("dbo"));
        self.tables[at].references.push(reference);
        (self.tables[at].references.len() < 4).then_some(text)
    }

    fn add_check(&mut self, random: &mut Random, at: usize) -> Option<String> {
        let name = self.name("ck");
        let table = &mut self.tables[at];
        let plain: Vec<String> = table.plain().into_iter().map(|column| column.name.clone()).collect();
        let columns = some(random, &plain, 2);
        let text = match columns.as_slice() {
            [one] => format!("{one} <> 5"),
            [one, other, ..] => format!("{one} <> 4 OR {other} IS NULL OR {other} < 3"),
            [] => return None,
        };
        table.checks.push(Check { name: name.clone(), columns, text: text.clone() });
        Some(format!("ALTER TABLE t{at} ADD CONSTRAINT {name} CHECK ({text})"))
    }

    fn add_computed(&mut self, random: &mut Random, at: usize) -> Option<String> {
        let name = self.name("c");
        let table = &mut self.tables[at];
        let plain: Vec<String> = table.plain().into_iter().map(|column| column.name.clone()).collect();
        let columns = some(random, &plain, 2);
        let persisted = if random.below(2) == 0 { " PERSISTED" } else { "" };
        let computed = format!("CONCAT({}, '.')", columns.join(", ':', "));
        let text = format!("{computed}{persisted}");
        table.columns.push(Column {
            name: name.clone(),
            ty: "",
            not_null: false,
            default: None,
            computed: Some(text.clone()),
        });
        Some(format!("ALTER TABLE t{at} ADD {name} AS {text}"))
    }

    fn drop_something(&mut self, random: &mut Random, at: usize) -> Option<String> {
        let referred: Vec<String> =
            self.tables.iter().flat_map(|table| &table.references).map(|reference| reference.key.clone()).collect();
        let table = &mut self.tables[at];
        match random.below(4) {
            0 => {
                let index = chosen(random, &table.indexes)?.name.clone();
                table.indexes.retain(|other| other.name != index);
                Some(format!("DROP INDEX {index} ON t{at}"))
            }
            1 => {
                let reference = chosen(random, &table.references)?.name.clone();
                table.references.retain(|other| other.name != reference);
                Some(format!("ALTER TABLE t{at} DROP CONSTRAINT {reference}"))
            }
            2 => {
                let check = chosen(random, &table.checks)?.name.clone();
                table.checks.retain(|other| other.name != check);
                Some(format!("ALTER TABLE t{at} DROP CONSTRAINT {check}"))
            }
            _ => {
                let key = chosen(random, &table.keys)?.name.clone();
                table.keys.retain(|other| other.name != key);
                (!referred.contains(&key)).then(|| format!("ALTER TABLE t{at} DROP CONSTRAINT {key}"))
            }
        }
    }
}
