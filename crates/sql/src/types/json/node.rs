//! Checked text with its structure.

/// A piece of json text.
#[derive(Clone, Debug)]
pub struct Node<'t> {
    /// The text, without spaces around it.
    pub raw: &'t str,
    /// What it is.
    pub kind: NodeKind<'t>,
}

/// What a piece of json text is.
#[derive(Clone, Debug)]
pub enum NodeKind<'t> {
    /// null
    Null,
    /// true or false
    Bool(bool),
    /// A number: its text.
    Number,
    /// A string, with its escapes decoded.
    String(String),
    /// An array.
    Array(Vec<Node<'t>>),
    /// An object, with all pairs in the order of the text.
    Object(Vec<(String, Node<'t>)>),
}

impl<'t> Node<'t> {
    /// The value of the last pair with this key, if it is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Node<'t>> {
        let NodeKind::Object(pairs) = &self.kind else { return None };
        pairs.iter().rev().find(|pair| pair.0 == key).map(|pair| &pair.1)
    }

    /// An element, counted from the end if negative.
    pub fn element(&self, index: i64) -> Option<&Node<'t>> {
        let NodeKind::Array(elements) = &self.kind else { return None };
        let at = if index < 0 { index.checked_add(elements.len() as i64)? } else { index };
        elements.get(usize::try_from(at).ok()?)
    }

    /// As `->>` returns it: a string without quotes, null as none.
    pub fn to_plain(&self) -> Option<String> {
        match &self.kind {
            NodeKind::Null => None,
            NodeKind::String(text) => Some(text.clone()),
            _ => Some(self.raw.to_string()),
        }
    }

    /// Its type as `json_typeof` names it.
    pub fn type_name(&self) -> &'static str {
        match &self.kind {
            NodeKind::Null => "null",
            NodeKind::Bool(_) => "boolean",
            NodeKind::Number => "number",
            NodeKind::String(_) => "string",
            NodeKind::Array(_) => "array",
            NodeKind::Object(_) => "object",
        }
    }
}
