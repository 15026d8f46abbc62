//! Reads queries: prologue, operators, clauses. Each expression comes with its type, and what SQL Server refuses by types is refused
//! here.

use super::atomic::AtomicType;
use super::syntax::{Clause, Comparison, Expr, For, Quantified};
use super::types::{ItemType, NodeType, Occurs, Type};
use super::{Accessor, Method, Namespaces};
use crate::arithmetic::ArithmeticOp;
use crate::error::SqlError;
use crate::sql_type::SqlType;
use crate::xml::XML_SPACE;
use std::cmp::Ordering;

/// Expressions within each other: more would take more of the stack than a query is worth.
const LEVELS_MAX: usize = 48;

/// Operators that lean to the left and clauses that stand in each other, in a whole query: each is a call within the one before.
const LINKS_MAX: usize = 256;

/// What functions of no prefix are in.
pub(super) const FUNCTIONS: &str = "http://www.w3.org/2004/07/xpath-functions";
pub(super) const SQL_FUNCTIONS: &str = "urn:schemas-microsoft-com:xml-sql";

/// An expression with its type.
pub(super) type Typed = (Expr, Type);

pub(super) struct Parser<'q> {
    pub(super) text: &'q str,
    pub(super) at: usize,
    /// What messages call the method.
    pub(super) place: String,
    /// See [`super::Receiver`].
    pub(super) of_schemas: bool,
    /// Declared prefixes, the innermost last; that of elements without one is empty.
    pub(super) prefixes: Vec<(String, String)>,
    pub(super) variables: Vec<(String, Type)>,
    /// The type of `.`.
    pub(super) context: Type,
    pub(super) in_predicate: bool,
    levels: usize,
    links: usize,
    read: &'q mut dyn FnMut(&Accessor) -> Result<SqlType, SqlError>,
    inputs: Vec<SqlType>,
}

impl<'q> Parser<'q> {
    pub(super) fn new(
        text: &'q str,
        place: String,
        of_schemas: bool,
        namespaces: &Namespaces,
        read: &'q mut dyn FnMut(&Accessor) -> Result<SqlType, SqlError>,
    ) -> Parser<'q> {
        let known = [
            ("xml", XML_SPACE),
            ("xs", "http://www.w3.org/2001/XMLSchema"),
            ("xsi", "http://www.w3.org/2001/XMLSchema-instance"),
            ("xdt", "http://www.w3.org/2004/07/xpath-datatypes"),
            ("fn", FUNCTIONS),
            ("sql", SQL_FUNCTIONS),
        ];
        let known = known.iter().map(|(prefix, uri)| ((*prefix).to_owned(), (*uri).to_owned()));
        Parser {
            text,
            at: 0,
            place,
            of_schemas,
            prefixes: known.chain(namespaces.iter().cloned()).collect(),
            variables: Vec::new(),
            context: Type::node(NodeType::Root, Occurs::One),
            in_predicate: false,
            levels: 0,
            links: 0,
            read,
            inputs: Vec::new(),
        }
    }

    /// The prefixes that results use, those of the query first, and the types of values from SQL.
    pub(super) fn into_parts(self) -> (Vec<(String, String)>, Vec<SqlType>) {
        let mut prefixes: Vec<(String, String)> = Vec::new();
        for (prefix, uri) in self.prefixes.into_iter().rev() {
            if prefix != "xml" && prefix != "fn" && prefixes.iter().all(|(known, _)| *known != prefix) {
                prefixes.push((prefix, uri));
            }
        }
        (prefixes, self.inputs)
    }

    /// A query for one of the methods that read.
    pub(super) fn query(&mut self, method: Method) -> Result<Expr, SqlError> {
        self.prologue()?;
        let (expr, ty) = self.expr()?;
        self.end()?;
        let what = format!("{}()", method.name());
        match method {
            Method::Value => {
                self.unbuilt(&ty, "data()")?;
                self.single(&ty.atomized(), &what)?;
            }
            Method::Nodes => {
                self.unbuilt(&ty, "'nodes()'")?;
                if !ty.is_node() && ty.item != ItemType::Nothing {
                    return Err(SqlError::xquery_nodes_needed(&self.place, "'nodes()'"));
                }
            }
            Method::Query if ty.is_attribute() => return Err(SqlError::xquery_attribute_outside(&self.place)),
            _ => {}
        }
        Ok(expr)
    }

    pub(super) fn end(&mut self) -> Result<(), SqlError> {
        self.skip();
        if self.at == self.text.len() {
            return Ok(());
        }
        let near = self.near();
        Err(SqlError::xquery_more_tokens(&self.place, near))
    }

    /// What stands before the query: versions and declarations.
    pub(super) fn prologue(&mut self) -> Result<(), SqlError> {
        if self.eat_words(&["xquery", "version"]) {
            self.quoted()?;
            self.expect(";")?;
        }
        while self.at_word("declare") {
            let start = self.at;
            if self.eat_words(&["declare", "default", "element", "namespace"]) {
                let uri = self.quoted()?;
                self.prefixes.push((String::new(), uri));
            } else if self.eat_words(&["declare", "default", "function", "namespace"]) {
                self.quoted()?;
            } else if self.eat_words(&["declare", "namespace"]) {
                let prefix = self.plain_name()?.to_owned();
                self.expect("=")?;
                let uri = self.quoted()?;
                self.prefixes.push((prefix, uri));
            } else if self.eat_words(&["declare", "function"]) {
                return self.unsupported("declare function");
            } else if self.eat_words(&["declare", "variable"]) {
                return self.unsupported("declare variable");
            } else {
                self.at = start;
                return self.syntax();
            }
            self.expect(";")?;
        }
        Ok(())
    }

    /// Notes a value from SQL.
    pub(super) fn input(&mut self, accessor: &Accessor) -> Result<(usize, SqlType), SqlError> {
        let ty = (self.read)(accessor)?;
        self.inputs.push(ty);
        Ok((self.inputs.len() - 1, ty))
    }

    // Checks by type.

    /// At most one item is wanted by `what`.
    pub(super) fn single(&self, ty: &Type, what: &str) -> Result<(), SqlError> {
        match ty.occurs {
            Occurs::Many if !self.of_schemas => Err(SqlError::xquery_singleton(&self.place, what, ty)),
            _ => Ok(()),
        }
    }

    /// Nodes that the query makes are given, and not looked into.
    pub(super) fn unbuilt(&self, ty: &Type, what: &str) -> Result<(), SqlError> {
        match ty.item {
            ItemType::Xml => Err(SqlError::xquery_xml_not_here(&self.place)),
            _ if ty.built => Err(SqlError::xquery_constructed(&self.place, what)),
            _ => Ok(()),
        }
    }

    /// An expression that holds or does not: nodes do where there are any.
    pub(super) fn condition(&self, ty: &Type) -> Result<(), SqlError> {
        match &ty.item {
            ItemType::Node(_) | ItemType::Nothing | ItemType::Atomic(AtomicType::Boolean) => Ok(()),
            _ => Err(SqlError::xquery_condition_type(&self.place, ty)),
        }
    }

    /// The type that one of two values, or both one after the other, has; nodes do not stand beside values.
    fn either(&self, left: &Type, right: &Type, occurs: Occurs) -> Result<Type, SqlError> {
        let built = left.built || right.built;
        let item = match (&left.item, &right.item) {
            (ItemType::Nothing, other) | (other, ItemType::Nothing) => other.clone(),
            (ItemType::Node(a), ItemType::Node(b)) => ItemType::Node(match (a, b) {
                _ if a == b => a.clone(),
                (NodeType::Element(_), NodeType::Element(_)) => NodeType::Element(None),
                (NodeType::Attribute(_), NodeType::Attribute(_)) => NodeType::Attribute(None),
                _ => NodeType::Any,
            }),
            (ItemType::Atomic(a), ItemType::Atomic(b)) => ItemType::Atomic(match (a, b) {
                _ if a == b => *a,
                _ if a.is_numeric() && b.is_numeric() => a.meeting(*b),
                _ => AtomicType::Untyped,
            }),
            (ItemType::Xml, _) | (_, ItemType::Xml) => ItemType::Xml,
            (ItemType::Atomic(_), ItemType::Node(_)) => {
                return Err(SqlError::xquery_heterogeneous(&self.place, left, right));
            }
            (ItemType::Node(_), ItemType::Atomic(_)) => {
                return Err(SqlError::xquery_heterogeneous(&self.place, right, left));
            }
        };
        Ok(Type { item, occurs, built })
    }

    // Expressions.

    /// Expressions with commas between them.
    pub(super) fn expr(&mut self) -> Result<Typed, SqlError> {
        let (first, mut ty) = self.one()?;
        if !self.eat(",") {
            return Ok((first, ty));
        }
        let mut parts = vec![first];
        loop {
            let (part, of_part) = self.one()?;
            ty = self.either(&ty, &of_part, Occurs::Many)?;
            parts.push(part);
            if !self.eat(",") {
                return Ok((Expr::Sequence(parts), ty));
            }
        }
    }

    /// Reads what is within something.
    pub(super) fn deeper<T>(&mut self, body: impl FnOnce(&mut Self) -> Result<T, SqlError>) -> Result<T, SqlError> {
        if self.levels >= LEVELS_MAX {
            return Err(SqlError::xquery_too_complex(&self.place));
        }
        self.levels += 1;
        let result = body(self);
        self.levels -= 1;
        result
    }

    /// Notes an operator or a clause that leans on those before it.
    fn link(&mut self) -> Result<(), SqlError> {
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(SqlError::xquery_too_complex(&self.place));
        }
        Ok(())
    }

    /// One expression.
    pub(super) fn one(&mut self) -> Result<Typed, SqlError> {
        self.deeper(|parser| {
            if parser.at_word_before("for", "$") || parser.at_word_before("let", "$") {
                return parser.each();
            }
            for (word, every) in [("some", false), ("every", true)] {
                if parser.at_word_before(word, "$") {
                    parser.eat_word(word);
                    return parser.quantified(every);
                }
            }
            if parser.at_word_before("if", "(") {
                return parser.choice();
            }
            if parser.at_word_before("typeswitch", "(") {
                return parser.unsupported("typeswitch");
            }
            parser.logical(0)
        })
    }

    /// `or`, and in it `and`.
    fn logical(&mut self, level: usize) -> Result<Typed, SqlError> {
        let Some(word) = ["or", "and"].get(level) else {
            return self.comparison();
        };
        let (first, ty) = self.logical(level + 1)?;
        if !self.at_word(word) {
            return Ok((first, ty));
        }
        self.condition(&ty)?;
        let mut parts = vec![first];
        while self.eat_word(word) {
            let (part, ty) = self.logical(level + 1)?;
            self.condition(&ty)?;
            parts.push(part);
        }
        let expr = if level == 0 { Expr::Or(parts) } else { Expr::And(parts) };
        Ok((expr, Type::atomic(AtomicType::Boolean, Occurs::One)))
    }

    fn comparison(&mut self) -> Result<Typed, SqlError> {
        let left = self.sum()?;
        self.skip();
        for (sign, order) in [("<<", Ordering::Less), (">>", Ordering::Greater)] {
            if self.rest().starts_with(sign) {
                self.at += sign.len();
                return self.node_comparison(left, sign, order);
            }
        }
        if self.eat_word("is") {
            return self.node_comparison(left, "is", Ordering::Equal);
        }
        for sign in ["!=", "<=", ">=", "=", "<", ">"] {
            if self.rest().starts_with(sign)
                && let Some(comparison) = Comparison::general(sign)
            {
                self.at += sign.len();
                let right = self.sum()?;
                self.check_compared(&left.1, &right.1, sign)?;
                let ty = Type::atomic(AtomicType::Boolean, Occurs::One);
                return Ok((Expr::Any(comparison, Box::new([left.0, right.0])), ty));
            }
        }
        for word in ["eq", "ne", "lt", "le", "gt", "ge"] {
            if self.at_word(word)
                && let Some(comparison) = Comparison::single(word)
            {
                self.eat_word(word);
                let right = self.sum()?;
                self.single(&left.1.atomized(), word)?;
                self.single(&right.1.atomized(), word)?;
                self.check_compared(&left.1, &right.1, word)?;
                let ty = Type::atomic(AtomicType::Boolean, Occurs::Optional);
                return Ok((Expr::Single(comparison, Box::new([left.0, right.0])), ty));
            }
        }
        Ok(left)
    }

    fn check_compared(&self, left: &Type, right: &Type, sign: &str) -> Result<(), SqlError> {
        self.unbuilt(left, "data()")?;
        self.unbuilt(right, "data()")?;
        let (left, right) = (left.atomized(), right.atomized());
        match (left.as_atomic(), right.as_atomic()) {
            (Some(a), Some(b)) if !a.compares_with(b) => {
                Err(SqlError::xquery_operator_types(&self.place, sign, left, right))
            }
            _ => Ok(()),
        }
    }

    fn node_comparison(&mut self, left: Typed, sign: &str, order: Ordering) -> Result<Typed, SqlError> {
        let right = self.sum()?;
        for (_, ty) in [&left, &right] {
            self.unbuilt(ty, &format!("'{sign}'"))?;
            self.single(ty, sign)?;
            if !ty.is_node() {
                return Err(SqlError::xquery_operator_types(&self.place, sign, &left.1, &right.1));
            }
        }
        let ty = Type::atomic(AtomicType::Boolean, Occurs::Optional);
        Ok((Expr::Nodes(order, Box::new([left.0, right.0])), ty))
    }

    fn sum(&mut self) -> Result<Typed, SqlError> {
        let mut left = self.product()?;
        loop {
            self.skip();
            let op = match self.peek() {
                Some('+') => ArithmeticOp::Add,
                Some('-') => ArithmeticOp::Subtract,
                _ => return self.no_set_operator(left),
            };
            self.link()?;
            let sign = if op == ArithmeticOp::Add { "+" } else { "-" };
            self.at += 1;
            let right = self.product()?;
            left = self.arithmetic(op, sign, left, right)?;
        }
    }

    fn no_set_operator(&mut self, left: Typed) -> Result<Typed, SqlError> {
        if self.peek() == Some('|') {
            return self.unsupported("|");
        }
        for word in ["union", "intersect", "except", "to"] {
            if self.at_word(word) {
                return self.unsupported(word);
            }
        }
        for words in [["instance", "of"], ["treat", "as"], ["castable", "as"]] {
            if self.eat_words(&words) {
                return self.unsupported(&words.join(" "));
            }
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Typed, SqlError> {
        let mut left = self.signed()?;
        loop {
            let (op, sign) = if self.eat("*") {
                (ArithmeticOp::Multiply, "*")
            } else if self.eat_word("div") {
                (ArithmeticOp::Divide, "div")
            } else if self.eat_word("mod") {
                (ArithmeticOp::Modulo, "mod")
            } else if self.at_word("idiv") {
                return self.unsupported("idiv");
            } else {
                return Ok(left);
            };
            self.link()?;
            let right = self.signed()?;
            left = self.arithmetic(op, sign, left, right)?;
        }
    }

    fn arithmetic(&self, op: ArithmeticOp, sign: &str, left: Typed, right: Typed) -> Result<Typed, SqlError> {
        for (_, ty) in [&left, &right] {
            self.number(ty, sign)?;
        }
        let types = (left.1.atomized().as_atomic(), right.1.atomized().as_atomic());
        let ty = match types {
            (Some(a), Some(b)) => match a.meeting(b) {
                AtomicType::Integer if op == ArithmeticOp::Divide => AtomicType::Decimal,
                ty => ty,
            },
            _ => AtomicType::Double,
        };
        let exact = [&left, &right].iter().all(|(_, ty)| ty.occurs == Occurs::One) && op != ArithmeticOp::Divide;
        let occurs = if exact { Occurs::One } else { Occurs::Optional };
        Ok((Expr::Arithmetic(op, Box::new([left.0, right.0])), Type::atomic(ty, occurs)))
    }

    /// A number is wanted, or what has no type.
    pub(super) fn number(&self, ty: &Type, sign: &str) -> Result<(), SqlError> {
        self.unbuilt(ty, "data()")?;
        let ty = ty.atomized();
        self.single(&ty, sign)?;
        match ty.as_atomic() {
            Some(atomic) if !atomic.is_numeric() && atomic != AtomicType::Untyped => {
                Err(SqlError::xquery_not_numeric(&self.place, sign, ty))
            }
            _ => Ok(()),
        }
    }

    fn signed(&mut self) -> Result<Typed, SqlError> {
        let mut negative = false;
        let mut signs = 0;
        loop {
            if self.eat("-") {
                negative = !negative;
            } else if !self.eat("+") {
                break;
            }
            signs += 1;
        }
        let (expr, ty) = self.cast()?;
        if signs == 0 {
            return Ok((expr, ty));
        }
        self.number(&ty, "-")?;
        let of = match ty.atomized().as_atomic() {
            None | Some(AtomicType::Untyped) => AtomicType::Double,
            Some(of) => of,
        };
        let ty = Type::atomic(of, ty.occurs);
        Ok((if negative { Expr::Negate(Box::new(expr)) } else { expr }, ty))
    }

    fn cast(&mut self) -> Result<Typed, SqlError> {
        let (expr, ty) = self.path()?;
        if !self.eat_words(&["cast", "as"]) {
            return Ok((expr, ty));
        }
        let (prefix, local) = self.name()?;
        let name = format!("{prefix}:{local}");
        let Some(to) = AtomicType::by_name(&name) else {
            return Err(SqlError::xquery_type_unknown(&self.place, name));
        };
        if !self.eat("?") {
            return Err(SqlError::xquery_cast_needs_mark(&self.place));
        }
        self.converted((expr, ty), to)
    }

    /// A conversion to a type.
    pub(super) fn converted(&mut self, (expr, ty): Typed, to: AtomicType) -> Result<Typed, SqlError> {
        self.unbuilt(&ty, "data()")?;
        let ty = ty.atomized();
        if ty.occurs == Occurs::Many || ty.item == ItemType::Nothing {
            return Err(SqlError::xquery_cast(&self.place, ty, to.name()));
        }
        if let Expr::Literal(literal) = &expr {
            return match literal.cast(to) {
                Some(value) => Ok((Expr::Literal(value), Type::atomic(to, Occurs::One))),
                None => Err(SqlError::xquery_value_invalid(&self.place, literal.text())),
            };
        }
        Ok((Expr::Cast(Box::new(expr), to), Type::atomic(to, Occurs::Optional)))
    }

    /// `$name`
    pub(super) fn variable_name(&mut self) -> Result<String, SqlError> {
        self.expect("$")?;
        let (prefix, local) = self.name()?;
        Ok(if prefix.is_empty() { local.to_owned() } else { format!("{prefix}:{local}") })
    }

    fn each(&mut self) -> Result<Typed, SqlError> {
        let outer = self.variables.len();
        let bound = self.each_inside();
        self.variables.truncate(outer);
        bound
    }

    fn each_inside(&mut self) -> Result<Typed, SqlError> {
        let mut clauses = Vec::new();
        let mut occurs = Occurs::One;
        loop {
            let is_for = self.at_word_before("for", "$");
            if !is_for && !self.at_word_before("let", "$") {
                break;
            }
            self.eat_word(if is_for { "for" } else { "let" });
            loop {
                let name = self.variable_name()?;
                for word in ["at", "as"] {
                    if self.at_word(word) {
                        return self.unsupported(word);
                    }
                }
                let sign = if is_for { "in" } else { ":=" };
                if !(if is_for { self.eat_word("in") } else { self.eat(":=") }) {
                    return Err(SqlError::xquery_expected(&self.place, sign));
                }
                let (source, ty) = self.one()?;
                self.unbuilt(&ty, if is_for { "'for'" } else { "'let'" })?;
                if is_for {
                    occurs = occurs.times(ty.occurs);
                    clauses.push(Clause::For(source));
                    self.variables.push((name, ty.occurring(Occurs::One)));
                } else {
                    clauses.push(Clause::Let(source));
                    self.variables.push((name, ty));
                }
                self.link()?;
                if !self.eat(",") {
                    break;
                }
            }
        }
        let mut condition = None;
        if self.eat_word("where") {
            let (expr, ty) = self.one()?;
            self.condition(&ty)?;
            condition = Some(expr);
        }
        let mut order = Vec::new();
        let mut ordered = self.eat_words(&["stable", "order", "by"]) || self.eat_words(&["order", "by"]);
        while ordered {
            let (key, ty) = self.one()?;
            self.unbuilt(&ty, "data()")?;
            self.single(&ty.atomized(), "order by")?;
            let descending = self.eat_word("descending");
            if !descending {
                self.eat_word("ascending");
            }
            order.push((key, descending));
            ordered = self.eat(",");
        }
        if !self.eat_word("return") {
            let near = self.near();
            return Err(if condition.is_none() && order.is_empty() {
                SqlError::xquery_clause_expected(&self.place, near)
            } else {
                SqlError::xquery_syntax_expected(&self.place, near, "return")
            });
        }
        let (result, ty) = self.one()?;
        let occurs = occurs.times(ty.occurs);
        Ok((Expr::For(Box::new(For { clauses, condition, order, result })), ty.occurring(occurs)))
    }

    fn quantified(&mut self, every: bool) -> Result<Typed, SqlError> {
        let outer = self.variables.len();
        let mut sources = Vec::new();
        let what = if every { "'every'" } else { "'some'" };
        loop {
            let name = self.variable_name()?;
            self.expect_word("in")?;
            let (source, ty) = self.one()?;
            self.unbuilt(&ty, what)?;
            sources.push(source);
            self.variables.push((name, ty.occurring(Occurs::One)));
            self.link()?;
            if !self.eat(",") {
                break;
            }
        }
        self.expect_word("satisfies")?;
        let (condition, ty) = self.one()?;
        self.condition(&ty)?;
        self.variables.truncate(outer);
        let quantified = Quantified { every, sources, condition };
        Ok((Expr::Quantified(Box::new(quantified)), Type::atomic(AtomicType::Boolean, Occurs::One)))
    }

    /// `if (...) then ... else ...`
    fn choice(&mut self) -> Result<Typed, SqlError> {
        self.eat_word("if");
        self.expect("(")?;
        let (condition, ty) = self.expr()?;
        self.condition(&ty)?;
        self.expect(")")?;
        self.expect_word("then")?;
        let (then, of_then) = self.one()?;
        self.expect_word("else")?;
        let (otherwise, of_otherwise) = self.one()?;
        let occurs = match (of_then.occurs, of_otherwise.occurs) {
            (Occurs::Many, _) | (_, Occurs::Many) => Occurs::Many,
            (Occurs::One, Occurs::One) => Occurs::One,
            _ => Occurs::Optional,
        };
        let ty = self.either(&of_then, &of_otherwise, occurs)?;
        Ok((Expr::If(Box::new([condition, then, otherwise])), ty))
    }
}
