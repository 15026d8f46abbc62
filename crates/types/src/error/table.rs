//! The one table of messages. A longer file than others: it is a list.

use super::{ErrorTemplate, SqlError};
use std::fmt::Display;

macro_rules! error_table {
    ($($number:literal $severity:literal $state:literal $name:ident($($argument:ident),*) $text:literal;)*) => {
        impl SqlError {
            $(
                #[doc = concat!("Error ", stringify!($number), ", severity ", stringify!($severity), ": `", $text, "`")]
                #[cold]
                pub fn $name($($argument: impl Display),*) -> SqlError {
                    SqlError::new($number, $severity, $state, format!($text))
                }
            )*
        }

        /// Every message of the product, ascending by number.
        pub const ERRORS: &[ErrorTemplate] = &[
            $(ErrorTemplate { number: $number, severity: $severity, text: $text }),*
        ];
    };
}

// number severity state constructor(arguments) text
error_table! {
    // Syntax and names.
    101 15 1 query_in_waitfor() "Query not allowed in Waitfor.";
    102 15 1 incorrect_syntax(near) "Incorrect syntax near '{near}'.";
    103 15 4 identifier_too_long(kind, start, maximum) "The {kind} that starts with '{start}' is too long. Maximum length is {maximum}.";
    104 16 1 order_by_not_in_union_list() "ORDER BY items must appear in the select list if the statement contains a UNION, INTERSECT or EXCEPT operator.";
    105 15 1 unclosed_quotation(text) "Unclosed quotation mark after the character string '{text}'.";
    107 16 1 column_prefix_unknown(prefix) "The column prefix '{prefix}' does not match with a table name or alias name used in the query.";
    108 16 1 order_by_position_out_of_range(position) "The ORDER BY position number {position} is out of range of the number of items in the select list.";
    109 15 1 more_columns_than_values() "There are more columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.";
    110 15 1 fewer_columns_than_values() "There are fewer columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.";
    111 15 1 must_be_first_in_batch(statement) "'{statement}' must be the first statement in a query batch.";
    113 15 1 missing_end_comment() "Missing end comment mark '*/'.";
    116 16 1 one_expression_in_subquery() "Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.";
    117 15 1 too_many_prefixes(kind, name, maximum) "The {kind} name '{name}' contains more than the maximum number of prefixes. The maximum is {maximum}.";
    120 15 1 insert_select_fewer_items() "The select list for the INSERT statement contains fewer items than the insert list. The number of SELECT values must match the number of INSERT columns.";
    121 15 1 insert_select_more_items() "The select list for the INSERT statement contains more items than the insert list. The number of SELECT values must match the number of INSERT columns.";
    127 15 1 top_is_negative() "A TOP N or FETCH rowcount value may not be negative.";
    128 15 1 name_not_permitted_here(name) "The name \"{name}\" is not permitted in this context. Valid expressions are constants, constant expressions, and (in some contexts) variables. Column names are not permitted.";
    130 15 1 aggregate_of_aggregate() "Cannot perform an aggregate function on an expression containing an aggregate or a subquery.";
    131 15 2 size_exceeds_maximum(size, kind, name, maximum) "The size ({size}) given to the {kind} '{name}' exceeds the maximum allowed for any data type ({maximum}).";
    132 15 1 label_declared_twice(label) "The label '{label}' has already been declared. Label names must be unique within a query batch or stored procedure.";
    133 15 1 label_unknown(label) "A GOTO statement references the label '{label}' but the label has not been declared.";
    134 15 1 variable_declared_twice(name) "The variable name '{name}' has already been declared. Variable names must be unique within a query batch or stored procedure.";
    135 15 1 break_outside_while() "Cannot use a BREAK statement outside the scope of a WHILE statement.";
    136 15 1 continue_outside_while() "Cannot use a CONTINUE statement outside the scope of a WHILE statement.";
    137 15 2 variable_not_declared(name) "Must declare the scalar variable \"{name}\".";
    139 15 1 default_for_local_variable() "Cannot assign a default value to a local variable.";
    141 15 1 select_assigns_and_returns() "A SELECT statement that assigns a value to a variable must not be combined with data-retrieval operations.";
    144 15 1 aggregate_in_group_by() "Cannot use an aggregate or a subquery in an expression used for the group by list of a GROUP BY clause.";
    145 15 1 order_by_not_in_distinct_list() "ORDER BY items must appear in the select list if SELECT DISTINCT is specified.";
    147 15 1 aggregate_in_where() "An aggregate may not appear in the WHERE clause unless it is in a subquery contained in a HAVING clause or a select list, and the column being aggregated is an outer reference.";
    148 15 1 bad_waitfor_time(text) "Incorrect time syntax in time string '{text}' used with WAITFOR.";
    154 15 1 not_allowed_in(what, place) "{what} is not allowed in {place}.";
    155 15 1 option_not_recognized(option, kind) "'{option}' is not a recognized {kind} option.";
    156 15 1 incorrect_syntax_keyword(keyword) "Incorrect syntax near the keyword '{keyword}'.";
    157 15 1 aggregate_in_set_list() "An aggregate may not appear in the set list of an UPDATE statement.";
    164 15 1 group_by_needs_a_column() "Each GROUP BY expression must contain at least one column that is not an outer reference.";
    166 15 1 database_prefix_not_allowed(statement) "'{statement}' does not allow specifying the database name as a prefix to the object name.";
    168 15 1 float_literal_out_of_range(text, bytes) "The floating point value '{text}' is out of the range of computer representation ({bytes} bytes).";
    169 15 1 order_by_column_twice() "A column has been specified more than once in the order by list. Columns in the order by list must be unique.";
    173 15 1 column_needs_type(column) "The definition for column '{column}' must include a data type.";
    174 15 1 function_needs_arguments(function, count) "The {function} function requires {count} argument(s).";
    178 15 1 return_value_not_allowed() "A RETURN statement with a return value cannot be used in this context.";
    179 15 1 output_of_constant() "Cannot use the OUTPUT option when passing a constant to a stored procedure.";
    180 15 1 too_many_parameters(statement, maximum) "There are too many parameters in this {statement} statement. The maximum number is {maximum}.";
    183 15 1 scale_out_of_range(scale, column, minimum, maximum) "The scale ({scale}) for column '{column}' must be within the range {minimum} to {maximum}.";
    189 15 1 function_needs_argument_range(function, minimum, maximum) "The {function} function requires {minimum} to {maximum} arguments.";
    191 15 1 nested_too_deeply() "Some part of your SQL statement is nested too deeply. Rewrite the query or break it up into smaller queries.";
    192 15 1 scale_exceeds_precision() "The scale must be less than or equal to the precision.";
    193 15 1 name_too_long(start, maximum) "The object or column name starting with '{start}' is too long. The maximum length is {maximum} characters.";
    195 15 10 name_not_recognized(name, kind) "'{name}' is not a recognized {kind}.";
    199 15 1 insert_select_assigns() "An INSERT statement cannot contain a SELECT statement that assigns values to a variable.";
    201 16 4 parameter_not_supplied(procedure, parameter) "Procedure or function '{procedure}' expects parameter '{parameter}', which was not supplied.";
    203 16 2 not_an_identifier(name) "The name '{name}' is not a valid identifier.";
    205 16 1 union_lists_differ() "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number of expressions in their target lists.";
    206 16 2 operand_type_clash(left, right) "Operand type clash: {left} is incompatible with {right}";
    207 16 1 invalid_column(name) "Invalid column name '{name}'.";
    208 16 1 invalid_object(name) "Invalid object name '{name}'.";
    209 16 1 ambiguous_column(name) "Ambiguous column name '{name}'.";
    210 16 1 datetime_from_binary() "Conversion failed when converting datetime from binary/varbinary string.";
    213 16 1 values_do_not_match_table() "Column name or number of supplied values does not match table definition.";
    214 16 2 procedure_expects_type(parameter, ty) "Procedure expects parameter '{parameter}' of type '{ty}'.";
    215 16 1 not_a_function(name) "Parameters supplied for object '{name}' which is not a function. If the parameters are intended as a table hint, a WITH keyword is required.";
    216 16 1 function_parameters_missing(name) "Parameters were not supplied for the function '{name}'.";
    217 16 1 nesting_level_exceeded(limit) "Maximum stored procedure, function, trigger, or view nesting level exceeded (limit {limit}).";
    219 16 1 type_exists(name) "The type '{name}' already exists, or you do not have permission to create it.";

    // Conversions and arithmetic.
    220 16 1 overflow_of_integer(ty, value) "Arithmetic overflow error for data type {ty}, value = {value}.";
    229 14 5 permission_denied(permission, object, database, schema) "The {permission} permission was denied on the object '{object}', database '{database}', schema '{schema}'.";
    232 16 3 overflow_of_float(ty, value) "Arithmetic overflow error for type {ty}, value = {value}.";
    234 16 2 no_space_for_money(ty) "There is insufficient result space to convert a money value to {ty}.";
    235 16 0 text_is_not_money() "Cannot convert a char value to money. The char value has incorrect syntax.";
    236 16 0 text_overflows_money() "The conversion from char data type to money resulted in a money overflow error.";
    241 16 1 text_is_not_a_date() "Conversion failed when converting date and/or time from character string.";
    242 16 3 date_out_of_range(from, to) "The conversion of a {from} data type to a {to} data type resulted in an out-of-range value.";
    243 16 1 not_a_system_type(name) "Type {name} is not a defined system type.";
    244 16 1 text_overflows_small_integer(from, value, column) "The conversion of the {from} value '{value}' overflowed an {column} column. Use a larger integer column.";
    245 16 1 conversion_failed(from, value, to) "Conversion failed when converting the {from} value '{value}' to data type {to}.";
    248 16 1 text_overflows_int(from, value) "The conversion of the {from} value '{value}' overflowed an int column.";
    256 16 1 text_type_required(ty, function) "The data type {ty} is invalid for the {function} function. Allowed types are: char/varchar, nchar/nvarchar, and binary/varbinary.";
    257 16 3 implicit_conversion_not_allowed(from, to) "Implicit conversion from data type {from} to {to} is not allowed. Use the CONVERT function to run this query.";
    259 16 1 system_catalog_update() "Ad hoc updates to system catalogs are not allowed.";
    260 16 1 implicit_conversion_not_allowed_in_column(from, to, table, column) "Disallowed implicit conversion from data type {from} to data type {to}, table '{table}', column '{column}'. Use the CONVERT function to run this query.";
    263 16 1 no_table_to_select_from() "Must specify table to select from.";
    264 16 1 column_set_twice(column) "The column name '{column}' is specified more than once in the SET clause or column list of an INSERT. A column cannot be assigned more than one value in the same clause. Modify the clause to make sure that a column is updated only once. If this statement updates or inserts columns into a view, column aliasing can conceal the duplication in your code.";
    266 16 2 transaction_count_mismatch(previous, current) "Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = {previous}, current count = {current}.";
    271 16 1 column_cannot_be_modified(column) "The column \"{column}\" cannot be modified because it is either a computed column or is the result of a UNION operator.";
    281 16 1 invalid_style(style, from) "{style} is not a valid style number when converting from {from} to a character string.";
    282 10 1 null_return_status(procedure) "The '{procedure}' procedure attempted to return a status of NULL, which is not allowed. A status of 0 will be returned instead.";
    289 16 1 cannot_construct(ty) "Cannot construct data type {ty}, some of the arguments have values which are not valid.";
    291 16 1 invalid_type_attributes(ty) "CAST or CONVERT: invalid attributes specified for type '{ty}'";
    295 16 3 text_is_not_smalldatetime() "Conversion failed when converting character string to smalldatetime data type.";
    313 16 2 too_few_arguments(name) "An insufficient number of arguments were supplied for the procedure or function {name}.";
    319 15 1 with_needs_semicolon() "Incorrect syntax near the keyword 'with'. If this statement is a common table expression, an xmlnamespaces clause or a change tracking context clause, the previous statement must be terminated with a semicolon.";
    334 16 1 output_with_triggers(table) "The target table '{table}' of the DML statement cannot have any enabled triggers if the statement contains an OUTPUT clause without INTO clause.";
    343 15 1 object_kind_unknown(kind) "Unknown object type '{kind}' used in a CREATE, DROP, or ALTER statement.";
    402 16 1 types_incompatible(left, right, operator) "The data types {left} and {right} are incompatible in the {operator} operator.";
    403 16 1 invalid_operator(operator, ty) "Invalid operator for data type. Operator equals {operator}, type equals {ty}.";
    408 16 1 constant_in_order_by(position) "A constant expression was encountered in the ORDER BY list, position {position}.";
    448 16 1 invalid_collation(name) "Invalid collation '{name}'.";
    468 16 9 collation_conflict(left, right, operation) "Cannot resolve the collation conflict between \"{left}\" and \"{right}\" in the {operation} operation.";
    487 16 1 invalid_option(statement) "An invalid option was specified for the statement \"{statement}\".";
    506 16 1 invalid_like_escape(text, predicate) "The invalid escape character \"{text}\" was specified in a {predicate} predicate.";
    512 16 1 subquery_many_rows() "Subquery returned more than 1 value. This is not permitted when the subquery follows =, !=, <, <= , >, >= or when the subquery is used as an expression.";
    515 16 2 null_not_allowed(column, table, statement) "Cannot insert the value NULL into column '{column}', table '{table}'; column does not allow nulls. {statement} fails.";
    517 16 1 date_overflow(ty) "Adding a value to a '{ty}' column caused an overflow.";
    529 16 2 explicit_conversion_not_allowed(from, to) "Explicit conversion from data type {from} to {to} is not allowed.";
    530 16 1 recursion_exhausted(maximum) "The statement terminated. The maximum recursion {maximum} has been exhausted before statement completion.";
    535 16 0 datediff_overflow() "The datediff function resulted in an overflow. The number of dateparts separating two date/time instances is too large. Try to use datediff with a less precise datepart.";
    536 16 1 invalid_length(function) "Invalid length parameter passed to the {function} function.";
    537 16 3 invalid_length_of_left_or_substring() "Invalid length parameter passed to the LEFT or SUBSTRING function.";
    544 16 1 identity_insert_off(table) "Cannot insert explicit value for identity column in table '{table}' when IDENTITY_INSERT is set to OFF.";
    545 16 1 identity_value_needed(table) "Explicit value must be specified for identity column in table '{table}' either when IDENTITY_INSERT is set to ON or when a replication user is inserting into a NOT FOR REPLICATION identity column.";
    547 16 0 constraint_conflict(statement, kind, constraint, database, table, column) "The {statement} statement conflicted with the {kind} constraint \"{constraint}\". The conflict occurred in database \"{database}\", table \"{table}\"{column}.";
    574 16 1 not_in_user_transaction(statement) "{statement} statement cannot be used inside a user transaction.";
    601 12 3 scan_lost_its_place() "Could not continue scan with NOLOCK due to data movement.";
    701 17 1 insufficient_memory(pool) "There is insufficient system memory in resource pool '{pool}' to run this query.";

    // Storage and databases.
    823 24 2 operating_system_error(error, operation, offset, file) "The operating system returned error {error} to SQL Server during a {operation} at offset {offset} in file '{file}'. This is a severe system-level error condition that threatens database integrity and must be corrected immediately.";
    824 24 2 page_is_damaged(what, operation, page, database, offset, file) "SQL Server detected a logical consistency-based I/O error: {what}. It occurred during a {operation} of page {page} in database ID {database} at offset {offset} in file '{file}'. This is a severe error condition that threatens database integrity and must be corrected immediately. Complete a full database consistency check (DBCC CHECKDB).";
    845 17 1 buffer_latch_timeout(latch, page, database) "Time-out occurred while waiting for buffer latch type {latch} for page {page}, database ID {database}.";
    911 16 1 database_unknown(name) "Database '{name}' does not exist. Make sure that the name is entered correctly.";
    916 14 1 database_access_denied(principal, database) "The server principal \"{principal}\" is not able to access the database \"{database}\" under the current security context.";
    922 14 1 database_in_recovery(name) "Database '{name}' is being recovered. Waiting until recovery is finished.";
    924 14 1 database_single_user(name) "Database '{name}' is already open and can only have one user at a time.";
    926 14 1 database_suspect(name) "Database '{name}' cannot be opened. It has been marked SUSPECT by recovery. See the SQL Server errorlog for more information.";
    942 14 4 database_offline(name) "Database '{name}' cannot be opened because it is offline.";
    1007 15 1 number_literal_out_of_range(text) "The number '{text}' is out of the range for numeric representation (maximum precision 38).";
    1011 16 1 correlation_name_twice(name) "The correlation name '{name}' is specified multiple times in a FROM clause.";
    1013 16 1 same_exposed_names(left, right) "The objects \"{left}\" and \"{right}\" in the FROM clause have the same exposed names. Use correlation names to distinguish them.";
    1014 15 1 invalid_top() "A TOP or FETCH clause contains an invalid value.";
    1023 15 1 invalid_date_part_parameter(position, function) "Invalid parameter {position} specified for {function}.";
    1033 15 1 order_by_in_derived_table() "The ORDER BY clause is invalid in views, inline functions, derived tables, subqueries, and common table expressions, unless TOP, OFFSET or FOR XML is also specified.";
    1035 15 1 incorrect_syntax_expected(near, expected) "Incorrect syntax near '{near}', expected '{expected}'.";
    1038 15 4 name_is_empty() "An object or column name is missing or empty. For SELECT INTO statements, verify each column has a name. For other statements, look for empty alias names. Aliases defined as \"\" or [] are not allowed. Change the alias to a valid name.";
    1046 15 1 subquery_not_allowed() "Subqueries are not allowed in this context. Only scalar expressions are allowed.";
    1060 15 1 top_not_an_integer() "The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.";
    1087 15 2 table_variable_not_declared(name) "Must declare the table variable \"{name}\".";
    1088 16 12 object_not_found(name) "Cannot find the object \"{name}\" because it does not exist or you do not have permissions.";
    1101 17 1 no_page_for_database(database, filegroup) "Could not allocate a new page for database '{database}' because of insufficient disk space in filegroup '{filegroup}'. Create the necessary space by dropping objects in the filegroup, adding additional files to the filegroup, or setting autogrowth on for existing files in the filegroup.";
    1105 17 2 no_space_for_object(object, database, filegroup) "Could not allocate space for object '{object}' in database '{database}' because the '{filegroup}' filegroup is full. Create disk space by deleting unneeded files, dropping objects in the filegroup, adding additional files to the filegroup, or setting autogrowth on for existing files in the filegroup.";
    1204 19 4 no_lock_resource() "The instance of the SQL Server Database Engine cannot obtain a LOCK resource at this time. Rerun your statement when there are fewer active users. Ask the database administrator to check the lock and memory configuration for this instance, or to check for long-running transactions.";
    1205 13 51 deadlock_victim(session, resources) "Transaction (Process ID {session}) was deadlocked on {resources} resources with another process and has been chosen as the deadlock victim. Rerun the transaction.";
    1222 16 51 lock_timeout() "Lock request time out period exceeded.";
    1505 16 1 duplicate_key_at_create(object, index, key) "The CREATE UNIQUE INDEX statement terminated because a duplicate key was found for the object name '{object}' and the index name '{index}'. The duplicate key value is {key}.";
    1701 16 1 row_size_too_large(table, size, overhead, maximum) "Creating or altering table '{table}' failed because the minimum row size would be {size}, including {overhead} bytes of internal overhead. This exceeds the maximum allowable table row size of {maximum} bytes.";
    1702 16 1 too_many_columns(column, table, maximum) "CREATE TABLE failed because column '{column}' in table '{table}' exceeds the maximum of {maximum} columns.";
    1750 16 0 constraint_not_created() "Could not create constraint or index. See previous errors.";
    1752 16 0 default_column_invalid(column, table) "Column '{column}' in table '{table}' is invalid for creating a default constraint.";
    1754 16 0 default_on_identity(table, column) "Defaults cannot be created on columns with an IDENTITY attribute. Table '{table}', column '{column}'.";
    1779 16 0 primary_key_exists(table) "Table '{table}' already has a primary key defined on it.";
    1781 16 1 default_exists() "Column already has a DEFAULT bound to it.";
    1801 16 3 database_exists(name) "Database '{name}' already exists. Choose a different database name.";
    1802 16 4 create_database_failed() "CREATE DATABASE failed. Some file names listed could not be created. Check related errors.";
    1834 16 1 file_in_use(file, database) "The file '{file}' cannot be overwritten. It is being used by database '{database}'.";
    1902 16 3 clustered_index_exists(kind, table, index) "Cannot create more than one clustered index on {kind} '{table}'. Drop the existing clustered index '{index}' before creating another.";
    1909 16 1 key_column_twice(kind, column) "Cannot use duplicate column names in {kind}. Column name '{column}' listed more than once.";
    1911 16 1 key_column_unknown(column) "Column name '{column}' does not exist in the target table or view.";
    1913 16 1 index_exists(name, kind, table) "The operation failed because an index or statistics with name '{name}' already exists on {kind} '{table}'.";
    1919 16 1 key_column_type_invalid(column, table) "Column '{column}' in table '{table}' is of a type that is invalid for use as a key column in an index.";
    1921 16 1 invalid_place(kind, name) "Invalid {kind} '{name}' specified.";
    1946 16 3 key_too_long(length, index, maximum, kind) "Operation failed. The index entry of length {length} bytes for the index '{index}' exceeds the maximum length of {maximum} bytes for {kind} indexes.";
    2010 16 1 incompatible_object_kind(statement, name) "Cannot perform {statement} on '{name}' because it is an incompatible object type.";
    2501 16 45 table_or_object_not_found(name) "Cannot find a table or object with the name \"{name}\". Check the system catalog.";
    2520 16 5 database_not_found(name) "Could not find database '{name}'. The database either does not exist, or was dropped before a statement tried to use it. Verify if the database exists by querying the sys.databases catalog view.";
    2526 16 3 incorrect_dbcc() "Incorrect DBCC statement. Check the documentation for the correct DBCC syntax and options.";
    2528 10 1 dbcc_completed() "DBCC execution completed. If DBCC printed error messages, contact your system administrator.";
    2560 16 9 dbcc_parameter_incorrect(position) "Parameter {position} is incorrect for this DBCC statement.";
    2571 14 1 dbcc_permission(user, command) "User '{user}' does not have permission to run DBCC {command}.";
    2583 16 3 dbcc_parameter_count() "An incorrect number of parameters was given to the DBCC statement.";
    2601 14 1 duplicate_key_in_index(object, index, key) "Cannot insert duplicate key row in object '{object}' with unique index '{index}'. The duplicate key value is {key}.";
    2627 14 1 duplicate_key(kind, constraint, object, key) "Violation of {kind} constraint '{constraint}'. Cannot insert duplicate key in object '{object}'. The duplicate key value is {key}.";
    2628 16 1 truncated_in_column(table, column, value) "String or binary data would be truncated in table '{table}', column '{column}'. Truncated value: '{value}'.";
    2702 16 2 database_missing(name) "Database '{name}' does not exist.";
    2705 16 3 column_name_twice(column, table) "Column names in each table must be unique. Column name '{column}' in table '{table}' is specified more than once.";
    2714 16 6 object_exists(name) "There is already an object named '{name}' in the database.";
    2715 16 6 type_unknown(position, name) "Column, parameter, or variable #{position}: Cannot find data type {name}.";
    2716 16 1 width_not_allowed(position, ty) "Column, parameter, or variable #{position}: Cannot specify a column width on data type {ty}.";
    2717 15 2 parameter_size_too_large(size, kind, name, maximum) "The size ({size}) given to the {kind} '{name}' exceeds the maximum allowed ({maximum}).";
    2732 16 1 error_number_invalid(number, minimum, maximum) "Error number {number} is invalid. The number must be from {minimum} through {maximum} and it cannot be 50000.";
    2744 16 2 identity_twice(table) "Multiple identity columns specified for table '{table}'. Only one identity column per table is allowed.";
    2748 16 1 substitution_type_invalid(ty, position) "Cannot specify {ty} data type (parameter {position}) as a substitution parameter.";
    2749 16 2 identity_type_invalid(column) "Identity column '{column}' must be of data type int, bigint, smallint, tinyint, or decimal or numeric with a scale of 0, unencrypted, and constrained to be nonnullable.";
    2750 16 1 precision_too_large(position, precision, maximum) "Column or parameter #{position}: Specified column precision {precision} is greater than the maximum precision of {maximum}.";
    2751 16 1 scale_too_large(position, scale, precision) "Column or parameter #{position}: Specified column scale {scale} is greater than the specified precision of {precision}.";
    2754 16 1 severity_needs_log(maximum) "Error severity levels greater than {maximum} can only be specified by members of the sysadmin role, using the WITH LOG option.";
    2756 16 1 state_invalid(value, minimum, maximum) "Invalid value {value} for state. Valid range is from {minimum} to {maximum}.";
    2760 16 1 schema_unknown(name) "The specified schema name \"{name}\" either does not exist or you do not have permission to use it.";
    2786 16 1 substitution_type_mismatch(position) "The data type of substitution parameter {position} does not match the expected type of the format specification.";
    2787 16 1 format_invalid(text) "Invalid format specification: '{text}'.";
    2809 16 1 wrong_object_kind(wanted, name, name_again, kind) "The request for {wanted} '{name}' failed because '{name_again}' is a {kind} object.";
    2812 16 62 procedure_unknown(name) "Could not find stored procedure '{name}'.";
    3013 16 1 terminating_abnormally(statement) "{statement} is terminating abnormally.";
    3101 16 1 exclusive_access_needed() "Exclusive access could not be obtained because the database is in use.";
    3604 10 0 duplicate_key_ignored() "Duplicate key was ignored.";
    3606 10 0 overflow_occurred() "Arithmetic overflow occurred.";
    3607 10 0 divide_by_zero_occurred() "Division by zero occurred.";
    3609 16 1 transaction_ended_in_trigger() "The transaction ended in the trigger. The batch has been aborted.";
    3616 16 1 trigger_failed() "An error was raised during trigger execution. The batch has been aborted and the user transaction, if any, has been rolled back.";
    3621 10 0 statement_terminated() "The statement has been terminated.";
    3623 16 1 invalid_floating_point() "An invalid floating point operation occurred.";

    // Objects.
    3701 11 5 object_missing(action, kind, name) "Cannot {action} the {kind} '{name}', because it does not exist or you do not have permission.";
    3702 16 3 database_in_use(name) "Cannot drop database \"{name}\" because it is currently in use.";
    3703 16 2 object_in_use(kind, name) "Cannot detach the {kind} '{name}' because it is currently in use.";
    3705 16 1 wrong_drop(statement, name, name_again, kind, right) "Cannot use DROP {statement} with '{name}' because '{name_again}' is a {kind}. Use {right}.";
    3708 16 4 system_object(action, kind, name, kind_again) "Cannot {action} the {kind} '{name}' because it is a system {kind_again}.";
    3723 16 4 drop_index_of_constraint(index, kind) "An explicit DROP INDEX is not allowed on index '{index}'. It is being used for {kind} constraint enforcement.";
    3725 16 0 constraint_is_referenced(constraint, table, foreign_key) "The constraint '{constraint}' is being referenced by table '{table}', foreign key constraint '{foreign_key}'.";
    3726 16 1 object_is_referenced(name) "Could not drop object '{name}' because it is referenced by a FOREIGN KEY constraint.";
    3727 16 0 constraint_not_dropped() "Could not drop constraint. See previous errors.";
    3728 16 1 not_a_constraint(name) "'{name}' is not a constraint.";
    3729 16 1 referenced_by(action, name, referencing) "Cannot {action} '{name}' because it is being referenced by object '{referencing}'.";

    // Transactions.
    3902 16 1 commit_without_begin() "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.";
    3903 16 1 rollback_without_begin() "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.";
    3906 16 1 database_read_only(name) "Failed to update database \"{name}\" because the database is read-only.";
    3908 16 1 database_is_damaged(name) "Could not run BEGIN TRANSACTION in database '{name}' because the database is in emergency mode or is damaged and must be restarted.";
    3914 16 1 transaction_name_type(ty) "The data type \"{ty}\" is invalid for transaction names or savepoint names. Allowed data types are char, varchar, nchar, varchar(max), nvarchar, and nvarchar(max).";
    3915 16 0 rollback_in_insert_exec() "Cannot use the ROLLBACK statement within an INSERT-EXEC statement.";
    3916 16 0 commit_in_insert_exec() "Cannot use the COMMIT statement within an INSERT-EXEC statement unless BEGIN TRANSACTION is used first.";
    3918 16 1 user_transaction_needed() "The statement or function must be executed in the context of a user transaction.";
    3930 16 1 transaction_is_doomed() "The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.";
    3931 16 1 transaction_is_doomed_for_savepoint() "The current transaction cannot be committed and cannot be rolled back to a savepoint. Roll back the entire transaction.";
    3951 16 1 snapshot_after_start(database) "Transaction failed in database '{database}' because the statement was run under snapshot isolation but the transaction did not start in snapshot isolation. You cannot change the isolation level of the transaction to snapshot after the transaction has started unless the transaction was originally started under snapshot isolation level.";
    3952 16 1 snapshot_not_allowed(database) "Snapshot isolation transaction failed accessing database '{database}' because snapshot isolation is not allowed in this database. Use ALTER DATABASE to allow snapshot isolation.";
    3960 16 2 snapshot_conflict(table, database) "Snapshot isolation transaction aborted due to update conflict. You cannot use snapshot isolation to access table '{table}' directly or indirectly in database '{database}' to update, delete, or insert the row that has been modified or deleted by another transaction. Retry the transaction or change the isolation level for the update/delete statement.";
    3961 16 1 snapshot_schema_changed(database) "Snapshot isolation transaction failed in database '{database}' because the object accessed by the statement has been modified by a DDL statement in another concurrent transaction since the start of this transaction.  It is disallowed because the metadata is not versioned. A concurrent update to metadata can lead to inconsistency if mixed with snapshot isolation.";
    3998 16 1 doomed_at_end_of_batch() "Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.";
    4060 11 1 login_database_failed(database) "Cannot open database \"{database}\" requested by the login. The login failed.";
    4104 16 1 identifier_not_bound(name) "The multi-part identifier \"{name}\" could not be bound.";
    4108 15 1 window_function_misplaced() "Windowed functions can only appear in the SELECT or ORDER BY clauses.";
    4109 15 1 window_function_within_another() "Windowed functions cannot be used in the context of another windowed function or aggregate.";
    4112 15 1 window_needs_order(function) "The function '{function}' must have an OVER clause with ORDER BY.";
    4121 16 1 function_not_found(column, function) "Cannot find either column \"{column}\" or the user-defined function or aggregate \"{function}\", or the name is ambiguous.";
    4145 15 1 condition_expected(near) "An expression of non-boolean type specified in a context where a condition is expected, near '{near}'.";
    4199 16 1 argument_value_invalid(value, position, function) "Argument value {value} is invalid for argument {position} of {function} function.";
    4406 16 1 view_column_is_derived(view) "Update or insert of view or function '{view}' failed because it contains a derived or constant field.";
    4701 16 1 truncate_not_found(name) "Cannot find the object \"{name}\" because it does not exist or you do not have permissions.";
    4708 16 2 truncate_not_a_table(name) "Could not truncate object '{name}' because it is not a table.";
    4712 16 1 truncate_is_referenced(name) "Cannot truncate table '{name}' because it is being referenced by a FOREIGN KEY constraint.";
    4901 16 1 column_cannot_be_added(column, table) "ALTER TABLE only allows columns to be added that can contain nulls, or have a DEFAULT definition specified, or the column being added is an identity or timestamp column, or alternatively if none of the previous conditions are satisfied the table must be empty to allow addition of this column. Column '{column}' cannot be added to non-empty table '{table}' because it does not satisfy these conditions.";
    4902 16 1 alter_table_not_found(name) "Cannot find the object \"{name}\" because it does not exist or you do not have permissions.";
    4922 16 9 column_is_in_use(statement, column) "{statement} {column} failed because one or more objects access this column.";
    4923 16 1 only_column(column, table) "ALTER TABLE DROP COLUMN failed because '{column}' is the only data column in table '{table}'. A table must have at least one data column.";
    4924 16 1 alter_column_unknown(statement, column, table) "{statement} failed because column '{column}' does not exist in table '{table}'.";

    // ALTER DATABASE and files.
    5011 14 5 alter_database_denied(name) "User does not have permission to alter database '{name}', the database does not exist, or the database is not in a state that allows access checks.";
    5030 16 12 database_not_locked_exclusively() "The database could not be exclusively locked to perform the operation.";
    5058 16 1 database_option_not_settable(option, database) "Option '{option}' cannot be set in database '{database}'.";
    5061 16 1 database_lock_not_placed(database) "ALTER DATABASE failed because a lock could not be placed on database '{database}'. Try again later.";
    5069 16 1 alter_database_failed() "ALTER DATABASE statement failed.";
    5070 16 2 database_has_users(name) "Database state cannot be changed while other users are using the database '{name}'";
    5084 10 1 setting_database_option(option, value, database) "Setting database option {option} to {value} for database '{database}'.";
    5120 16 101 file_not_opened(file, error, text) "Unable to open the physical file \"{file}\". Operating system error {error}: \"{text}\".";
    5123 16 1 file_not_created(error, file) "CREATE FILE encountered operating system error {error} while attempting to open or create the physical file '{file}'.";
    5133 16 1 directory_lookup_failed(file, error) "Directory lookup for the file \"{file}\" failed with the operating system error {error}.";
    5149 16 3 file_not_expanded(error, file) "MODIFY FILE encountered operating system error {error} while attempting to expand the physical file '{file}'.";
    5308 16 1 window_order_by_position() "Windowed functions, aggregates and NEXT VALUE FOR functions do not support integer indices as ORDER BY clause expressions.";
    5309 16 1 window_order_by_constant() "Windowed functions, aggregates and NEXT VALUE FOR functions do not support constants as ORDER BY clause expressions.";
    5373 16 1 series_types_differ() "All the input parameters should be of the same type. Supported types are tinyint, smallint, int, bigint, decimal and numeric.";
    5701 10 1 changed_database(name) "Changed database context to '{name}'.";
    5703 10 1 changed_language(name) "Changed language setting to {name}.";
    5808 16 1 system_catalog_update_unsupported() "Ad hoc update to system catalogs is not supported.";
    6101 16 1 session_id_invalid(session) "Session ID {session} is not valid.";
    6104 16 1 kill_own_process() "Cannot use KILL to kill your own process.";
    6106 16 2 process_not_active(session) "Process ID {session} is not an active process ID.";
    6107 14 1 kill_system_process() "Only user processes can be killed.";
    6401 16 1 savepoint_unknown(name) "Cannot roll back {name}. No transaction or savepoint of that name was found.";
    7968 10 1 open_transaction_information(database) "Transaction information for database '{database}'.";
    7969 16 1 no_open_transactions() "No active open transactions.";

    // Tables, expressions and procedure calls.
    8101 16 1 identity_needs_column_list(table) "An explicit value for the identity column in table '{table}' can only be specified when a column list is used and IDENTITY_INSERT is ON.";
    8102 16 1 identity_not_updatable(column) "Cannot update identity column '{column}'.";
    8106 16 1 no_identity_property(table) "Table '{table}' does not have the identity property. Cannot perform SET operation.";
    8107 16 1 identity_insert_elsewhere(on_table, table) "IDENTITY_INSERT is already ON for table '{on_table}'. Cannot perform SET operation for table '{table}'.";
    8110 16 0 primary_key_twice(table) "Cannot add multiple PRIMARY KEY constraints to table '{table}'.";
    8111 16 1 primary_key_on_nullable(table) "Cannot define PRIMARY KEY constraint on nullable column in table '{table}'.";
    8112 16 0 clustered_twice(table) "Cannot add more than one clustered index for constraints on table '{table}'.";
    8114 16 5 error_converting(from, to) "Error converting data type {from} to {to}.";
    8115 16 2 arithmetic_overflow(from, to) "Arithmetic overflow error converting {from} to data type {to}.";
    8116 16 1 argument_type_invalid(ty, position, function) "Argument data type {ty} is invalid for argument {position} of {function} function.";
    8117 16 1 operand_type_invalid(ty, operator) "Operand data type {ty} is invalid for {operator} operator.";
    8120 16 1 column_not_grouped(column) "Column '{column}' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause.";
    8121 16 1 having_column_not_grouped(column) "Column '{column}' is invalid in the HAVING clause because it is not contained in either an aggregate function or the GROUP BY clause.";
    8127 16 1 order_by_column_not_grouped(column) "Column \"{column}\" is invalid in the ORDER BY clause because it is not contained in either an aggregate function or the GROUP BY clause.";
    8133 16 1 case_is_all_null() "At least one of the result expressions in a CASE specification must be an expression other than the NULL constant.";
    8134 16 1 divide_by_zero() "Divide by zero error encountered.";
    8143 16 1 parameter_twice(parameter) "Parameter '{parameter}' was supplied multiple times.";
    8144 16 2 too_many_arguments(name) "Procedure or function {name} has too many arguments specified.";
    8145 16 2 not_a_parameter(parameter, procedure) "{parameter} is not a parameter for procedure {procedure}.";
    8146 16 2 procedure_has_no_parameters(name) "Procedure {name} has no parameters and arguments were supplied.";
    8147 16 1 identity_on_nullable(column, table) "Could not create IDENTITY attribute on nullable column '{column}', table '{table}'.";
    8148 16 0 column_constraint_twice(kind, column, table) "More than one column {kind} constraint specified for column '{column}', table '{table}'.";
    8152 16 14 truncated() "String or binary data would be truncated.";
    8153 10 1 null_eliminated() "Warning: Null value is eliminated by an aggregate or other SET operation.";
    8155 16 2 column_without_name(position, table) "No column name was specified for column {position} of '{table}'.";
    8156 16 1 column_twice_in_table(column, table) "The column '{column}' was specified multiple times for '{table}'.";
    8158 16 1 more_columns_than_listed(table) "'{table}' has more columns than were specified in the column list.";
    8159 16 1 fewer_columns_than_listed(table) "'{table}' has fewer columns than were specified in the column list.";
    8162 16 2 not_an_output_parameter(parameter) "The formal parameter \"{parameter}\" was not declared as an OUTPUT parameter, but the actual parameter passed in requested output.";
    8164 16 1 insert_exec_nested() "An INSERT EXEC statement cannot be nested.";
    8169 16 2 text_is_not_a_guid() "Conversion failed when converting from a character string to uniqueidentifier.";
    8170 16 2 no_space_for_guid() "Insufficient result space to convert uniqueidentifier value to char.";
    8178 16 1 query_parameter_not_supplied(query, parameter) "The parameterized query '{query}' expects the parameter '{parameter}', which was not supplied.";
    8179 16 2 prepared_statement_unknown(handle) "Could not find prepared statement with handle {handle}.";
    8645 17 1 memory_grant_timeout(pool) "A timeout occurred while waiting for memory resources to execute the query in resource pool '{pool}'. Rerun the query.";
    8989 10 1 check_database_found(allocation_errors, consistency_errors, database) "CHECKDB found {allocation_errors} allocation errors and {consistency_errors} consistency errors in database '{database}'.";
    8990 10 1 check_table_found(allocation_errors, consistency_errors, table) "CHECKDB found {allocation_errors} allocation errors and {consistency_errors} consistency errors in table '{table}'.";

    // The log.
    9001 21 1 log_not_available(database) "The log for database '{database}' is not available. Check the operating system error log for related error messages. Resolve any errors and restart the database.";
    9002 17 4 log_is_full(database, reason) "The transaction log for database '{database}' is full due to '{reason}'.";
    9003 20 1 log_scan_invalid(scan, database) "The log scan number {scan} passed to log scan in database '{database}' is not valid. This error may indicate data corruption or that the log file (.ldf) does not match the data file (.mdf).";
    9004 21 1 log_is_damaged(database) "An error occurred while processing the log for database '{database}'. If possible, restore from backup. If a backup is not available, it might be necessary to rebuild the log.";
    9807 16 0 text_does_not_follow_style(style) "The input character string does not follow style {style}, either change the input character string or use a different style.";
    9809 16 1 style_not_supported(style, from, to) "The style {style} is not supported for conversions from {from} to {to}.";
    9810 16 1 date_part_not_supported(part, function, ty) "The datepart {part} is not supported by date function {function} for data type {ty}.";
    9828 16 1 translate_lengths_differ() "The second and third arguments of the TRANSLATE built-in function must contain an equal number of characters.";
    10700 16 1 read_only_table_parameter(name) "The table-valued parameter \"{name}\" is READONLY and cannot be modified.";
    10704 15 1 throw_outside_catch() "To rethrow an error, a THROW statement must be used inside a CATCH block. Insert the THROW statement inside a CATCH block, or add error parameters to the THROW statement.";
    10709 16 1 value_rows_differ() "The number of columns for each row in a table value constructor must be the same.";
    10738 15 1 too_many_value_rows() "The number of row value expressions in the INSERT statement exceeds the maximum allowed number of 1000 row values.";
    10752 15 1 window_frame_not_allowed(function) "The function '{function}' may not have a window frame.";
    14262 16 1 specified_item_unknown(kind, name) "The specified {kind} ('{name}') does not exist.";
    15009 16 1 object_not_in_database(name, database) "The object '{name}' does not exist in database '{database}' or is invalid for this operation.";
    15123 16 1 configuration_option_unknown(name) "The configuration option '{name}' does not exist, or it may be an advanced option.";
    15129 16 1 configuration_value_invalid(value, name) "'{value}' is not a valid value for configuration option '{name}'.";
    15151 16 1 item_missing(action, kind, name) "Cannot {action} the {kind} '{name}', because it does not exist or you do not have permission.";
    15225 11 1 rename_not_found(name, database, kind) "No item by the name of '{name}' could be found in the current database '{database}', given that @itemtype was input as '{kind}'.";
    15335 11 1 rename_name_in_use(name, kind) "Error: The new name '{name}' is already in use as a {kind} name and would cause a duplicate that is not permitted.";
    15457 10 1 configuration_changed(name, previous, value) "Configuration option '{name}' changed from {previous} to {value}. Run the RECONFIGURE statement to install.";
    16905 16 1 cursor_already_open() "The cursor is already open.";
    16915 16 1 cursor_exists(name) "A cursor with the name '{name}' already exists.";
    16916 16 1 cursor_unknown(name) "A cursor with the name '{name}' does not exist.";
    16917 16 1 cursor_not_open() "Cursor is not open.";
    16924 16 1 cursor_variables_differ() "Cursorfetch: The number of variables declared in the INTO list must match that of selected columns.";
    18054 16 1 message_not_found(number, severity, state) "Error {number}, severity {severity}, state {state} was raised, but no message with that error number was found in sys.messages. If error is larger than 50000, make sure the user-defined message is added using sp_addmessage.";
    18456 14 1 login_failed(user) "Login failed for user '{user}'.";
}
