//! Reads paths: steps, predicates, and what paths begin with.

use super::Accessor;
use super::atomic::{Atomic, AtomicType, Datum, decimal_of};
use super::functions::{Function, Parameter};
use super::parse::{FUNCTIONS, Parser, SQL_FUNCTIONS, Typed};
use super::syntax::{Axis, Expr, Path, Predicate, Start, Step, Test};
use super::types::{ItemType, NodeType, Occurs, Type};
use crate::error::SqlError;
use crate::sql_type::SqlType;
use crate::xml::name::{leading_name, starts_name};

/// Steps of one path.
const STEPS_MAX: usize = 256;

/// The axes that SQL Server knows and does not have.
const REFUSED: [&str; 6] =
    ["ancestor", "ancestor-or-self", "following", "following-sibling", "preceding", "preceding-sibling"];

impl Parser<'_> {
    /// A path, or what stands alone.
    pub(super) fn path(&mut self) -> Result<Typed, SqlError> {
        self.skip();
        let mut steps = Vec::new();
        let (start, mut ty) = if self.rest().starts_with("//") {
            self.at += 2;
            steps.push(anywhere());
            (Start::Root, Type::node(NodeType::Any, Occurs::Many))
        } else if self.rest().starts_with('/') {
            self.at += 1;
            let root = Type::node(NodeType::Root, Occurs::One);
            if !self.at_step() {
                return Ok((Expr::Path(Path { start: Start::Root, steps }), root));
            }
            (Start::Root, root)
        } else if let Some((expr, ty)) = self.primary()? {
            let (expr, ty) = self.filter(expr, ty)?;
            self.skip();
            if !self.rest().starts_with('/') {
                return Ok((expr, ty));
            }
            self.unbuilt(&ty, "'/'")?;
            if !ty.is_node() && ty.item != ItemType::Nothing {
                return Err(SqlError::xquery_nodes_needed(&self.place, "'/'"));
            }
            self.slash(&mut steps);
            (Start::Expr(Box::new(expr)), ty)
        } else {
            if !self.context.is_node() {
                return Err(SqlError::xquery_nodes_needed(&self.place, "'/'"));
            }
            (Start::Context, self.context.clone())
        };
        loop {
            if steps.last().is_some_and(|step| step.axis == Axis::DescendantOrItself) {
                ty = Type::node(NodeType::Any, Occurs::Many);
            }
            let (step, of_step) = self.step(&ty)?;
            push_step(&mut steps, step);
            ty = of_step;
            self.skip();
            if !self.rest().starts_with('/') {
                return Ok((Expr::Path(Path { start, steps }), ty));
            }
            self.slash(&mut steps);
            if steps.len() > STEPS_MAX {
                return Err(SqlError::xquery_too_complex(&self.place));
            }
        }
    }

    /// `/` or `//` between steps.
    fn slash(&mut self, steps: &mut Vec<Step>) {
        self.at += 1;
        if self.rest().starts_with('/') {
            self.at += 1;
            steps.push(anywhere());
        }
    }

    /// Whether a step can begin here.
    fn at_step(&mut self) -> bool {
        self.skip();
        self.peek().is_some_and(|c| starts_name(c) || matches!(c, '@' | '.' | '*'))
    }

    fn step(&mut self, from: &Type) -> Result<(Step, Type), SqlError> {
        self.skip();
        if self.rest().starts_with("..") {
            self.at += 2;
            return self.predicates(Axis::Parent, Test::Any, from);
        }
        if self.peek() == Some('.') {
            self.at += 1;
            return self.predicates(Axis::Itself, Test::Any, from);
        }
        if self.eat("@") {
            let test = self.test(Axis::Attribute)?;
            return self.predicates(Axis::Attribute, test, from);
        }
        let axis = self.axis()?;
        let test = self.test(axis)?;
        self.predicates(axis, test, from)
    }

    /// `name::`; without it, children.
    fn axis(&mut self) -> Result<Axis, SqlError> {
        let name = leading_name(self.rest());
        if !self.rest()[name.len()..].starts_with("::") {
            return Ok(Axis::Child);
        }
        let axis = match name {
            "child" => Axis::Child,
            "attribute" => Axis::Attribute,
            "self" => Axis::Itself,
            "parent" => Axis::Parent,
            "descendant" => Axis::Descendant,
            "descendant-or-self" => Axis::DescendantOrItself,
            name if REFUSED.contains(&name) => return self.unsupported(name),
            name => return Err(SqlError::xquery_axis_unknown(&self.place, name)),
        };
        self.at += name.len() + 2;
        Ok(axis)
    }

    fn test(&mut self, axis: Axis) -> Result<Test, SqlError> {
        self.skip();
        if self.peek() == Some('*') {
            self.at += 1;
            let local = self.rest().strip_prefix(':').map_or("", leading_name);
            if local.is_empty() {
                return Ok(Test::Name { local: None, uri: None });
            }
            self.at += 1 + local.len();
            return Ok(Test::Name { local: Some(local.to_owned()), uri: None });
        }
        if !self.peek().is_some_and(starts_name) {
            let near = self.near();
            return Err(SqlError::xquery_step_expected(&self.place, near));
        }
        let start = self.at;
        let (prefix, local) = self.name()?;
        if prefix.is_empty() && self.rest().starts_with(":*") {
            self.at += 2;
            return Ok(Test::Name { local: None, uri: Some(self.space(local)?) });
        }
        if self.eat("(") {
            let test = match local {
                "node" => Test::Any,
                "text" => Test::Text,
                "comment" => Test::Comment,
                "processing-instruction" => Test::Instruction,
                _ => {
                    self.at = start;
                    let near = self.near();
                    return Err(SqlError::xquery_node_test_expected(&self.place, near));
                }
            };
            self.expect(")")?;
            return Ok(test);
        }
        let name = self.resolved(prefix, local, axis == Axis::Attribute)?;
        Ok(Test::Name { local: Some(name.local.into()), uri: Some(name.uri.into()) })
    }

    /// What stands in brackets behind a step, and the type of all.
    fn predicates(&mut self, axis: Axis, test: Test, from: &Type) -> Result<(Step, Type), SqlError> {
        let named = |local: &Option<String>, uri: &Option<String>| match (local, uri) {
            (Some(local), Some(uri)) if uri.is_empty() => Some(local.clone()),
            (Some(local), Some(uri)) => Some(format!("{{{uri}}}{local}")),
            _ => None,
        };
        let node = match &test {
            Test::Any if axis == Axis::Itself => match &from.item {
                ItemType::Node(node) => node.clone(),
                _ => NodeType::Any,
            },
            Test::Any => NodeType::Any,
            Test::Text => NodeType::Text,
            Test::Comment => NodeType::Comment,
            Test::Instruction => NodeType::Instruction,
            Test::Name { local, uri } if axis == Axis::Attribute => NodeType::Attribute(named(local, uri)),
            Test::Name { local, uri } => NodeType::Element(named(local, uri)),
        };
        let each = match (axis, &test) {
            (Axis::Itself, Test::Any) => Occurs::One,
            (Axis::Itself | Axis::Parent, _) => Occurs::Optional,
            (Axis::Attribute, Test::Name { local: Some(_), uri: Some(_) }) => Occurs::Optional,
            _ => Occurs::Many,
        };
        let of_item = Type::node(node.clone(), Occurs::One);
        let (predicates, each) = self.brackets(&of_item, each)?;
        Ok((Step { axis, test, predicates }, Type::node(node, from.occurs.times(each))))
    }

    /// `[...]` behind an expression in parentheses and its like.
    fn filter(&mut self, expr: Expr, ty: Type) -> Result<Typed, SqlError> {
        self.skip();
        if !self.rest().starts_with('[') {
            return Ok((expr, ty));
        }
        self.unbuilt(&ty, "'[]'")?;
        let (predicates, occurs) = self.brackets(&ty.clone().occurring(Occurs::One), ty.occurs)?;
        Ok((Expr::Filter(Box::new(expr), predicates), ty.occurring(occurs)))
    }

    /// Predicates on items of a type, and how many of so many are left.
    fn brackets(&mut self, item: &Type, mut occurs: Occurs) -> Result<(Vec<Predicate>, Occurs), SqlError> {
        let mut predicates = Vec::new();
        while self.eat("[") {
            let context = std::mem::replace(&mut self.context, item.clone());
            let outside = std::mem::replace(&mut self.in_predicate, true);
            let inside = self.one();
            self.context = context;
            self.in_predicate = outside;
            let (expr, ty) = inside?;
            self.expect("]")?;
            if predicates.len() >= STEPS_MAX {
                return Err(SqlError::xquery_too_complex(&self.place));
            }
            let by_place = ty.is_numeric() || is_place(&expr);
            if by_place || occurs == Occurs::One {
                occurs = Occurs::Optional;
            }
            predicates.push(match &ty.item {
                _ if ty.is_numeric() => Predicate::Place(expr),
                ItemType::Node(_) | ItemType::Nothing | ItemType::Atomic(AtomicType::Boolean) => {
                    Predicate::Condition(expr)
                }
                _ => return Err(SqlError::xquery_predicate_type(&self.place, ty)),
            });
        }
        Ok((predicates, occurs))
    }

    /// What is no step: literals, variables, calls, parentheses and constructors.
    fn primary(&mut self) -> Result<Option<Typed>, SqlError> {
        self.skip();
        let Some(next) = self.peek() else {
            return self.syntax();
        };
        let second = self.rest().chars().nth(1);
        Ok(Some(match next {
            '"' | '\'' => {
                let text = self.quoted()?;
                (Expr::Literal(Atomic::string(text)), Type::atomic(AtomicType::String, Occurs::One))
            }
            '0'..='9' => self.number_literal()?,
            '.' if second.is_some_and(|c| c.is_ascii_digit()) => self.number_literal()?,
            '.' if second != Some('.') && !self.context.is_node() => {
                self.at += 1;
                let path = Path { start: Start::Context, steps: Vec::new() };
                (Expr::Path(path), self.context.clone())
            }
            '$' => {
                let name = self.variable_name()?;
                let Some(place) = self.variables.iter().rposition(|(known, _)| *known == name) else {
                    return Err(SqlError::xquery_variable_unknown(&self.place, name));
                };
                (Expr::Variable(place), self.variables[place].1.clone())
            }
            '(' => {
                self.at += 1;
                if self.eat(")") {
                    return Ok(Some((Expr::Sequence(Vec::new()), Type::nothing())));
                }
                let inside = self.expr()?;
                self.expect(")")?;
                inside
            }
            '<' => self.direct_constructor()?,
            c if starts_name(c) => {
                if let Some(built) = self.computed_constructor()? {
                    return Ok(Some(built));
                }
                return self.call_or_none();
            }
            _ => return Ok(None),
        }))
    }

    fn number_literal(&mut self) -> Result<Typed, SqlError> {
        let rest = self.rest();
        let mut end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let mut ty = if rest[..end].contains('.') { AtomicType::Decimal } else { AtomicType::Integer };
        if rest[end..].starts_with(['e', 'E']) {
            let exponent = &rest[end + 1..];
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            let behind = digits.trim_start_matches(|c: char| c.is_ascii_digit());
            end = rest.len() - behind.len();
            ty = AtomicType::Double;
        }
        let datum = match ty {
            AtomicType::Double => rest[..end].parse().ok().map(Datum::Approximate),
            _ => decimal_of(&rest[..end]).map(Datum::Exact),
        };
        self.at += end;
        if self.peek().is_some_and(starts_name) {
            return Err(SqlError::xquery_number_invalid(&self.place));
        }
        let datum = datum.ok_or_else(|| SqlError::xquery_number_invalid(&self.place))?;
        Ok((Expr::Literal(Atomic { ty, datum }), Type::atomic(ty, Occurs::One)))
    }

    /// A call of a function; nothing where a step begins.
    fn call_or_none(&mut self) -> Result<Option<Typed>, SqlError> {
        let start = self.at;
        let (prefix, local) = self.name()?;
        let is_test = prefix.is_empty() && matches!(local, "node" | "text" | "comment" | "processing-instruction");
        if is_test || !self.eat("(") {
            self.at = start;
            return Ok(None);
        }
        let space = if prefix.is_empty() { FUNCTIONS.to_owned() } else { self.space(prefix)? };
        if space == SQL_FUNCTIONS {
            return self.sql(local).map(Some);
        }
        if let Some(to) = AtomicType::by_name(&format!("{prefix}:{local}")) {
            let argument = self.one()?;
            self.expect(")")?;
            return self.converted(argument, to).map(Some);
        }
        let known = if space == FUNCTIONS { Function::by_name(local) } else { None };
        let Some((function, fewest, parameters)) = known else {
            return Err(SqlError::xquery_function_unknown(&self.place, space, local));
        };
        let mut arguments = Vec::new();
        if !self.eat(")") {
            loop {
                arguments.push(self.one()?);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.call(function, fewest, parameters, arguments).map(Some)
    }

    fn call(
        &mut self,
        function: Function,
        fewest: usize,
        parameters: &[Parameter],
        mut arguments: Vec<Typed>,
    ) -> Result<Typed, SqlError> {
        let what = format!("{}()", function.name());
        if arguments.len() < fewest {
            return Err(SqlError::xquery_too_few_arguments(&self.place, what));
        }
        if arguments.len() > parameters.len() && function != Function::Concat {
            return Err(SqlError::xquery_too_many_arguments(&self.place, what));
        }
        if matches!(function, Function::Position | Function::Last) && !self.in_predicate {
            return Err(SqlError::xquery_outside_predicate(&self.place, what));
        }
        if arguments.is_empty() && !parameters.is_empty() {
            let path = Path { start: Start::Context, steps: Vec::new() };
            arguments.push((Expr::Path(path), self.context.clone()));
        }
        for (place, (_, ty)) in arguments.iter().enumerate() {
            let parameter = parameters.get(place).or(parameters.last());
            if let Some(parameter) = parameter {
                self.check_argument(*parameter, ty, &what)?;
            }
        }
        let types: Vec<Type> = arguments.iter().map(|(_, ty)| ty.clone()).collect();
        let arguments = arguments.into_iter().map(|(expr, _)| expr).collect();
        Ok((Expr::Call(function, arguments), function.result(&types)))
    }

    fn check_argument(&self, parameter: Parameter, ty: &Type, what: &str) -> Result<(), SqlError> {
        if parameter == Parameter::Condition {
            return self.condition(ty);
        }
        self.unbuilt(ty, what)?;
        let atomized = ty.atomized();
        let atomic = atomized.as_atomic();
        match parameter {
            Parameter::Item => self.single(ty, what),
            Parameter::Node => {
                self.single(ty, what)?;
                if atomic.is_some() && !ty.is_node() {
                    return Err(SqlError::xquery_nodes_needed(&self.place, what));
                }
                Ok(())
            }
            Parameter::Text => {
                self.single(&atomized, what)?;
                match atomic {
                    Some(ty) if ty.is_numeric() || ty == AtomicType::Boolean => {
                        Err(SqlError::xquery_argument_type(&self.place, ty.name(), AtomicType::String.name()))
                    }
                    _ => Ok(()),
                }
            }
            Parameter::Number => {
                self.single(&atomized, what)?;
                match atomic {
                    Some(ty) if !ty.is_numeric() && ty != AtomicType::Untyped => {
                        Err(SqlError::xquery_argument_type(&self.place, ty.name(), AtomicType::Decimal.name()))
                    }
                    _ => Ok(()),
                }
            }
            Parameter::Numbers => match atomic {
                Some(ty) if !ty.is_numeric() && ty != AtomicType::Untyped => {
                    Err(SqlError::xquery_not_numeric(&self.place, what, atomized))
                }
                _ => Ok(()),
            },
            Parameter::Items | Parameter::Values | Parameter::Condition => Ok(()),
        }
    }

    /// `sql:variable("@v")` and `sql:column("c")`, behind the parenthesis.
    fn sql(&mut self, function: &str) -> Result<Typed, SqlError> {
        if !matches!(function, "variable" | "column") {
            return Err(SqlError::xquery_function_unknown(&self.place, SQL_FUNCTIONS, function));
        }
        let name = self.quoted()?;
        self.expect(")")?;
        let accessor = match function {
            "variable" if name.len() < 2 || !name.starts_with('@') => {
                return Err(SqlError::xquery_sql_variable_name(name));
            }
            "variable" => Accessor::Variable(name),
            _ => Accessor::Column(name),
        };
        let (place, sql) = self.input(&accessor)?;
        let ty = match (&sql, AtomicType::of_sql(&sql)) {
            (SqlType::Xml, _) => Type { item: ItemType::Xml, occurs: Occurs::Optional, built: true },
            (_, Some(ty)) => Type::atomic(ty, Occurs::Optional),
            _ => return Err(SqlError::xquery_sql_type(&self.place, sql.name())),
        };
        Ok((Expr::Sql(place), ty))
    }
}

/// The step that `//` stands for.
fn anywhere() -> Step {
    Step { axis: Axis::DescendantOrItself, test: Test::Any, predicates: Vec::new() }
}

/// Adds a step. Children of anything below are descendants, unless their places among their siblings are asked for.
fn push_step(steps: &mut Vec<Step>, mut step: Step) {
    let by_place = |predicate: &Predicate| match predicate {
        Predicate::Place(_) => true,
        Predicate::Condition(expr) => !matches!(expr, Expr::Path(_) | Expr::Any(..)) || is_place(expr),
    };
    let follows = steps.last().is_some_and(|last| {
        last.axis == Axis::DescendantOrItself && last.test == Test::Any && last.predicates.is_empty()
    });
    if follows && step.axis == Axis::Child && !step.predicates.iter().any(by_place) {
        steps.pop();
        step.axis = Axis::Descendant;
    }
    steps.push(step);
}

/// Whether a condition compares the item's place with something.
fn is_place(expr: &Expr) -> bool {
    let calls = |expr: &Expr| matches!(expr, Expr::Call(Function::Position | Function::Last, _));
    match expr {
        Expr::Any(_, sides) | Expr::Single(_, sides) => sides.iter().any(calls),
        _ => false,
    }
}
