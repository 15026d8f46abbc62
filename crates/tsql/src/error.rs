//! What is wrong with a text, in SQL Server's numbers and words.

use std::fmt;

/// How much of an offending token a message quotes, in characters.
const QUOTE_MAX: usize = 128;

/// Why a text does not parse. The whole batch fails with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The error's number: 102, 156, ...
    pub number: i32,
    /// The severity, 15 for errors of syntax.
    pub severity: u8,
    /// The state.
    pub state: u8,
    /// The line within the batch, counted from 1.
    pub line: u32,
    /// The message.
    pub message: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Msg {}, Level {}, State {}, Line {}", self.number, self.severity, self.state, self.line)?;
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// The result of everything that parses. The error is boxed: it is rare, and results travel through every function.
pub(crate) type Parsed<T> = Result<T, Box<SyntaxError>>;

impl SyntaxError {
    pub(crate) fn new(number: i32, state: u8, line: u32, message: String) -> Box<SyntaxError> {
        Box::new(SyntaxError { number, severity: 15, state, line, message })
    }

    pub(crate) fn near(line: u32, text: &str) -> Box<SyntaxError> {
        SyntaxError::new(102, 1, line, format!("Incorrect syntax near '{}'.", quoted(text)))
    }

    pub(crate) fn near_keyword(line: u32, word: &str) -> Box<SyntaxError> {
        SyntaxError::new(156, 1, line, format!("Incorrect syntax near the keyword '{word}'."))
    }

    pub(crate) fn near_with(line: u32, word: &str) -> Box<SyntaxError> {
        let message = format!(
            "Incorrect syntax near the keyword '{word}'. If this statement is a common table expression, an xmlnamespaces clause \
             or a change tracking context clause, the previous statement must be terminated with a semicolon."
        );
        SyntaxError::new(319, 1, line, message)
    }

    pub(crate) fn unclosed_quote(line: u32, text: &str) -> Box<SyntaxError> {
        let message = format!("Unclosed quotation mark after the character string '{}'.", quoted(text));
        SyntaxError::new(105, 1, line, message)
    }

    pub(crate) fn unclosed_comment(line: u32) -> Box<SyntaxError> {
        SyntaxError::new(113, 1, line, "Missing end comment mark '*/'.".to_string())
    }

    pub(crate) fn name_too_long(line: u32, name: &str) -> Box<SyntaxError> {
        let message = format!("The identifier that starts with '{}' is too long. Maximum length is 128.", quoted(name));
        SyntaxError::new(103, 4, line, message)
    }

    pub(crate) fn name_empty(line: u32) -> Box<SyntaxError> {
        let message = "An object or column name is missing or empty. For SELECT INTO statements, verify each column has a name. \
                       For other statements, look for empty alias names. Aliases defined as \"\" or [] are not allowed. \
                       Change the alias to a valid name.";
        SyntaxError::new(1038, 4, line, message.to_string())
    }

    pub(crate) fn inner_order(line: u32) -> Box<SyntaxError> {
        let message = "The ORDER BY clause is invalid in views, inline functions, derived tables, subqueries, and common table \
                       expressions, unless TOP, OFFSET or FOR XML is also specified.";
        SyntaxError::new(1033, 1, line, message.to_string())
    }

    pub(crate) fn cursor_clause(line: u32, clause: &str) -> Box<SyntaxError> {
        let message = format!("Line {line}: {clause} clause allowed only for DECLARE CURSOR.");
        SyntaxError::new(1003, 1, line, message)
    }

    pub(crate) fn no_such_all(line: u32, operator: &str) -> Box<SyntaxError> {
        let message = format!("The 'ALL' version of the {operator} operator is not supported.");
        SyntaxError::new(324, 1, line, message)
    }

    pub(crate) fn beside_changed_rows(number: i32, line: u32, clause: &str) -> Box<SyntaxError> {
        let message = format!(
            "{clause} is not allowed when the FROM clause contains a nested INSERT, UPDATE, DELETE, or MERGE statement."
        );
        SyntaxError::new(number, 1, line, message)
    }

    pub(crate) fn changed_rows_not_inserted(line: u32) -> Box<SyntaxError> {
        let message = "A nested INSERT, UPDATE, DELETE, or MERGE statement is not allowed in a SELECT statement that is not the \
                       immediate source of rows for an INSERT statement.";
        SyntaxError::new(10729, 1, line, message.to_string())
    }

    pub(crate) fn changed_rows_not_output(line: u32) -> Box<SyntaxError> {
        let message = "A nested INSERT, UPDATE, DELETE, or MERGE statement must have an OUTPUT clause.";
        SyntaxError::new(10716, 1, line, message.to_string())
    }

    pub(crate) fn changed_rows_output_into(line: u32) -> Box<SyntaxError> {
        let message = "An OUTPUT INTO clause is not allowed in a nested INSERT, UPDATE, DELETE, or MERGE statement.";
        SyntaxError::new(10720, 1, line, message.to_string())
    }

    pub(crate) fn merge_action_misplaced(line: u32, action: &str) -> Box<SyntaxError> {
        let message = format!(
            "An action of type '{action}' is not allowed in the 'WHEN NOT MATCHED' clause of a MERGE statement."
        );
        SyntaxError::new(10710, 1, line, message)
    }

    pub(crate) fn merge_insert_misplaced(line: u32, clause: &str) -> Box<SyntaxError> {
        let message =
            format!("An action of type 'INSERT' is not allowed in the '{clause}' clause of a MERGE statement.");
        SyntaxError::new(10711, 1, line, message)
    }

    pub(crate) fn too_deep(line: u32) -> Box<SyntaxError> {
        let message = "Some part of your SQL statement is nested too deeply. Rewrite the query or break it up into smaller queries.";
        SyntaxError::new(191, 1, line, message.to_string())
    }

    pub(crate) fn number_too_long(line: u32, digits: &str) -> Box<SyntaxError> {
        let message = format!(
            "The number '{}' is out of the range for numeric representation (maximum precision 38).",
            quoted(digits)
        );
        SyntaxError::new(1007, 1, line, message)
    }

    pub(crate) fn fetch_without_offset(line: u32, option: &str) -> Box<SyntaxError> {
        let message = format!("Invalid usage of the option {option} in the FETCH statement.");
        SyntaxError::new(153, 2, line, message)
    }

    pub(crate) fn integer_out_of_range(line: u32, digits: &str) -> Box<SyntaxError> {
        SyntaxError::new(1080, 1, line, format!("The integer value {} is out of range.", quoted(digits)))
    }

    pub(crate) fn float_too_large(line: u32, digits: &str) -> Box<SyntaxError> {
        let message = format!(
            "The floating point value '{}' is out of the range of computer representation (8 bytes).",
            quoted(digits)
        );
        SyntaxError::new(168, 1, line, message)
    }

    pub(crate) fn not_a_condition(line: u32, near: &str) -> Box<SyntaxError> {
        let message = format!(
            "An expression of non-boolean type specified in a context where a condition is expected, near '{}'.",
            quoted(near)
        );
        SyntaxError::new(4145, 1, line, message)
    }

    pub(crate) fn not_first(line: u32, statement: &str) -> Box<SyntaxError> {
        SyntaxError::new(111, 1, line, format!("'{statement}' must be the first statement in a query batch."))
    }

    pub(crate) fn outside_while(number: i32, line: u32, statement: &str) -> Box<SyntaxError> {
        let message = format!("Cannot use a {statement} statement outside the scope of a WHILE statement.");
        SyntaxError::new(number, 1, line, message)
    }

    pub(crate) fn label_twice(line: u32, label: &str) -> Box<SyntaxError> {
        let message = format!(
            "The label '{label}' has already been declared. Label names must be unique within a query batch or stored procedure."
        );
        SyntaxError::new(132, 1, line, message)
    }

    pub(crate) fn label_missing(line: u32, label: &str) -> Box<SyntaxError> {
        let message = format!("A GOTO statement references the label '{label}' but the label has not been declared.");
        SyntaxError::new(133, 1, line, message)
    }

    pub(crate) fn unnamed_argument(line: u32, position: usize) -> Box<SyntaxError> {
        let message = format!(
            "Must pass parameter number {position} and subsequent parameters as '@name = value'. After the form '@name = value' \
             has been used, all subsequent parameters must be passed in the form '@name = value'."
        );
        SyntaxError::new(119, 1, line, message)
    }

    pub(crate) fn too_many_parameters(line: u32, statement: &str, maximum: usize) -> Box<SyntaxError> {
        let message =
            format!("There are too many parameters in this {statement} statement. The maximum number is {maximum}.");
        SyntaxError::new(180, 1, line, message)
    }

    pub(crate) fn merge_unterminated(line: u32) -> Box<SyntaxError> {
        SyntaxError::new(10713, 1, line, "A MERGE statement must be terminated by a semi-colon (;).".to_string())
    }

    pub(crate) fn too_many_prefixes(line: u32, name: &str) -> Box<SyntaxError> {
        let message = format!(
            "The object name '{}' contains more than the maximum number of prefixes. The maximum is 3.",
            quoted(name)
        );
        SyntaxError::new(117, 1, line, message)
    }

    pub(crate) fn unrecognized_option(line: u32, word: &str) -> Box<SyntaxError> {
        SyntaxError::new(195, 1, line, format!("'{}' is not a recognized SET option.", quoted(word)))
    }

    pub(crate) fn unrecognized_hint(line: u32, word: &str) -> Box<SyntaxError> {
        let message = format!(
            "\"{}\" is not a recognized table hints option. If it is intended as a parameter to a table-valued function or to the \
             CHANGETABLE function, ensure that your database compatibility mode is set to 90.",
            quoted(word)
        );
        SyntaxError::new(321, 1, line, message)
    }

    pub(crate) fn not_supported(line: u32, statement: &str) -> Box<SyntaxError> {
        let message = format!("{statement} is not supported in this version of Pikepole.");
        Box::new(SyntaxError { severity: 16, ..*SyntaxError::new(40517, 1, line, message) })
    }

    pub(crate) fn text_too_long() -> Box<SyntaxError> {
        let message = "There is insufficient system memory in resource pool 'internal' to run this query.";
        Box::new(SyntaxError { severity: 17, ..*SyntaxError::new(701, 123, 1, message.to_string()) })
    }
}

/// The beginning of a token, as messages quote it.
fn quoted(text: &str) -> &str {
    match text.char_indices().nth(QUOTE_MAX) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
