//! Changes of scripts in the ways in which people and programs write T-SQL wrongly: a token more, one less, another one, a
//! value at the edge of its type, a statement of another script.

use crate::mutate::{Random, mutate};
use std::path::Path;

/// What is written in the place of a literal: edges of types, and what no type has.
const LITERALS: [&str; 40] = [
    "NULL",
    "0",
    "1",
    "-1",
    "255",
    "256",
    "2147483647",
    "2147483648",
    "-2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "99999999999999999999999999999999999999",
    "999999999999999999999999999999999999999",
    "0.00000000000000000000000000000000000001",
    "1.7976931348623157E308",
    "1E309",
    "-1E-320",
    "$922337203685477.5807",
    "0x",
    "0xFFFFFFFFFFFFFFFF",
    "''",
    "N''",
    "' '",
    "'%'",
    "N'😀'",
    "'0001-01-01'",
    "'9999-12-31T23:59:59.9999999'",
    "'2024-02-29'",
    "'-'",
    "'1e5'",
    "'<a b=\"c\">d</a>'",
    "'{\"a\":[1,{\"b\":null}]}'",
    "'$.a[1]'",
    "REPLICATE('x', 9000)",
    "CAST('2024-02-29' AS datetime)",
    "CAST(1 AS sql_variant)",
    "(SELECT 1)",
    "@@ROWCOUNT",
    "NEWID()",
];

/// Words that change what a statement is.
const WORDS: [&str; 40] = [
    "DISTINCT",
    "TOP (0)",
    "TOP (1) WITH TIES",
    "ALL",
    "NOT",
    "IS NULL",
    "AND 1 = 0",
    "OR 1 = 1",
    "EXISTS (SELECT 1)",
    "UNION ALL",
    "EXCEPT",
    "INTERSECT",
    "CROSS JOIN",
    "LEFT JOIN",
    "FULL JOIN",
    "CROSS APPLY",
    "OUTER APPLY",
    "GROUP BY ROLLUP",
    "HAVING 1 = 1",
    "ORDER BY 1 DESC",
    "OFFSET 1 ROW",
    "OVER (ORDER BY (SELECT 1))",
    "COUNT(*)",
    "SUM(1)",
    "MAX",
    "CASE WHEN 1 = 1 THEN",
    "END",
    "BEGIN",
    "BEGIN TRAN",
    "COMMIT",
    "ROLLBACK",
    "RETURN",
    "GOTO",
    "*",
    "(",
    ")",
    ",",
    ";",
    "OUTPUT inserted.*",
    "FOR XML AUTO",
];

/// Types, one in the place of another.
const TYPES: [&str; 28] = [
    "bit",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "real",
    "float",
    "money",
    "smallmoney",
    "decimal(38, 38)",
    "decimal(5, 2)",
    "char(3)",
    "nchar(3)",
    "varchar(5)",
    "varchar(8000)",
    "varchar(max)",
    "nvarchar(4000)",
    "nvarchar(max)",
    "binary(4)",
    "varbinary(max)",
    "uniqueidentifier",
    "date",
    "time(0)",
    "smalldatetime",
    "datetime2(7)",
    "datetimeoffset(3)",
    "sql_variant",
    "xml",
];

/// Most changes of a batch that leave nothing to run, because it does not parse any more, are given up for others.
const ATTEMPTS: usize = 12;

/// The scripts, as batches of tokens.
pub struct Corpus {
    scripts: Vec<Vec<Vec<String>>>,
}

impl Corpus {
    /// All scripts of a folder.
    pub fn read(folder: &Path) -> Corpus {
        let entries = std::fs::read_dir(folder).expect("the folder is there");
        let mut paths: Vec<_> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "sql"))
            .collect();
        paths.sort();
        let scripts = paths.iter().map(|path| {
            let script = std::fs::read_to_string(path).expect("a script can be read");
            pikepole_tsql::split_batches(&script).into_iter().map(|batch| tokens(batch.text)).collect()
        });
        Corpus { scripts: scripts.collect() }
    }

    /// A run of batches of one script, some of them changed.
    pub fn changed_script(&self, batches_max: usize, random: &mut Random) -> Vec<String> {
        let script = &self.scripts[random.below(self.scripts.len())];
        let length = script.len().min(batches_max);
        // What the first batches define, later ones use.
        let start = if random.below(3) == 0 { random.below(script.len() - length + 1) } else { 0 };
        script[start..start + length]
            .iter()
            .map(|batch| if random.below(3) > 0 { self.changed(batch, script, random) } else { batch.concat() })
            .collect()
    }

    fn changed(&self, batch: &[String], script: &[Vec<String>], random: &mut Random) -> String {
        let mut text = String::new();
        for _ in 0..ATTEMPTS {
            let mut batch = batch.to_vec();
            for _ in 0..=random.below(3) {
                self.change(&mut batch, script, random);
            }
            text = batch.concat();
            if pikepole_tsql::parse(&text).is_ok() || random.below(10) == 0 {
                break;
            }
        }
        text
    }

    fn change(&self, batch: &mut Vec<String>, script: &[Vec<String>], random: &mut Random) {
        let places: Vec<usize> = (0..batch.len()).filter(|place| !is_space(&batch[*place])).collect();
        let Some(&place) = places.get(random.below(places.len())) else { return };
        let replace = |batch: &mut Vec<String>, text: &str| batch[place] = format!(" {text} ");
        match random.below(17) {
            0 => drop(batch.remove(place)),
            1 => batch.insert(place, batch[place].clone() + " "),
            2 => batch.swap(place, places[random.below(places.len())]),
            3 | 4 => replace(batch, LITERALS[random.below(LITERALS.len())]),
            5 => replace(batch, WORDS[random.below(WORDS.len())]),
            6 => batch.insert(place, format!(" {} ", WORDS[random.below(WORDS.len())])),
            // A literal at the edge where there is a literal.
            7 | 8 => {
                let literals: Vec<usize> = places.iter().copied().filter(|at| is_literal(&batch[*at])).collect();
                if let Some(at) = literals.get(random.below(literals.len())) {
                    batch[*at] = format!(" {} ", LITERALS[random.below(LITERALS.len())]);
                }
            }
            // Another name of the same script where there is a name.
            9 => {
                let other = &script[random.below(script.len())];
                let names: Vec<&String> = other.iter().filter(|token| is_name(token)).collect();
                if let Some(name) = names.get(random.below(names.len())) {
                    replace(batch, name);
                }
            }
            10 => {
                let piece = self.piece(random);
                batch.splice(place..place, piece);
            }
            12 | 13 => {
                let literals: Vec<usize> = places.iter().copied().filter(|at| is_literal(&batch[*at])).collect();
                if let Some(at) = literals.get(random.below(literals.len())) {
                    batch[*at] = self.call(random);
                }
            }
            14 | 15 => {
                let types: Vec<usize> = places.iter().copied().filter(|at| is_type(&batch[*at])).collect();
                if let Some(at) = types.get(random.below(types.len())) {
                    batch[*at] = format!(" {} ", TYPES[random.below(TYPES.len())]);
                }
            }
            // Bytes that need not even be UTF-8.
            11 => {
                let (mut bytes, other) = (batch.concat().into_bytes(), self.piece(random).concat());
                mutate(&mut bytes, other.as_bytes(), random);
                *batch = tokens(&String::from_utf8_lossy(&bytes));
            }
            _ => {
                let end = (place + 1 + random.below(12)).min(batch.len());
                drop(batch.drain(place..end));
            }
        }
    }

    /// Some tokens of any script.
    fn piece(&self, random: &mut Random) -> Vec<String> {
        let script = &self.scripts[random.below(self.scripts.len())];
        let batch = &script[random.below(script.len())];
        let start = random.below(batch.len());
        let end = (start + 1 + random.below(24)).min(batch.len());
        [&[" ".to_string()][..], &batch[start..end], &[" ".to_string()]].concat()
    }

    /// A name with what stands in parentheses behind it, of any script: mostly the call of a function.
    fn call(&self, random: &mut Random) -> String {
        let script = &self.scripts[random.below(self.scripts.len())];
        let batch = &script[random.below(script.len())];
        let calls: Vec<usize> = (1..batch.len()).filter(|at| batch[*at] == "(" && is_name(&batch[*at - 1])).collect();
        let Some(&open) = calls.get(random.below(calls.len())) else { return "NULL".to_string() };
        let mut depth = 0;
        let is_last = |token: &String| {
            depth += i32::from(token == "(") - i32::from(token == ")");
            depth == 0
        };
        let length = batch[open..].iter().position(is_last).map_or(1, |last| last + 1);
        format!(" {} ", batch[open - 1..open + length].concat())
    }
}

fn is_space(token: &str) -> bool {
    token.chars().all(char::is_whitespace)
}

fn is_literal(token: &str) -> bool {
    token.starts_with(|first: char| first.is_ascii_digit() || first == '\'') || token.starts_with("N'")
}

fn is_type(token: &str) -> bool {
    TYPES.iter().any(|ty| ty.split('(').next() == Some(&token.to_ascii_lowercase()))
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || "_@#[".contains(first))
}

/// Cuts a text into names, numbers, strings, spaces and single characters; together they are the text.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || "_@#$".contains(c);
        let end = if is_word(first) {
            rest.find(|c| !is_word(c))
        } else if first.is_whitespace() {
            rest.find(|c: char| !c.is_whitespace())
        } else if first == '\'' || first == '[' {
            let close = if first == '[' { ']' } else { first };
            rest[1..].find(close).map(|at| at + 2)
        } else {
            Some(first.len_utf8())
        };
        let (token, behind) = rest.split_at(end.unwrap_or(rest.len()));
        tokens.push(token.to_string());
        rest = behind;
    }
    tokens
}
