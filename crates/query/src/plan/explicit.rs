//! FOR XML EXPLICIT: rows say themselves which element they are and which one they are in.

/// An element that rows may be: one number of the first column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplicitTag {
    /// The number.
    pub number: i32,
    /// The element's name.
    pub name: String,
    /// What rows of it give, in the order of the select list; columns of other tags say nothing of them.
    pub columns: Vec<ExplicitColumn>,
}

/// A column of a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplicitColumn {
    /// The name of the attribute or of the element within; empty for what stands in the tag's own element.
    pub name: String,
    /// Which value.
    pub value: usize,
    /// How it is written.
    pub form: ExplicitForm,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplicitForm {
    /// As an attribute.
    Attribute,
    /// As text.
    Element,
    /// As text; NULL has an element that says so.
    ElementNil,
    /// As it is: it is XML already.
    Xml,
    /// As a section of CDATA.
    Cdata,
}
