//! What the values of a store are called in its history.

use seriatim_history::Atom;
use std::rc::Rc;
use std::sync::Arc;

/// A value that a store may hold. In a history it is a number or a text; values that differ should
/// be called differently.
///
/// ```
/// use seriatim_store::{Atom, ToAtom};
///
/// struct Account {
///     owner: String,
///     balance: i64,
/// }
///
/// impl ToAtom for Account {
///     fn to_atom(&self) -> Atom {
///         (self.owner.as_str(), self.balance).to_atom()
///     }
/// }
///
/// let account = Account { owner: "Ann".to_owned(), balance: 7 };
/// assert_eq!(account.to_atom().to_string(), r#"["Ann",7]"#);
/// ```
///
/// With the feature `json` the JSON of anything that can be serialised will do:
/// `seriatim_store::json_atom`.
pub trait ToAtom {
    /// What a history calls it.
    fn to_atom(&self) -> Atom;

    /// What it is called inside of a list: text stands in quotes there.
    fn nested(&self) -> String {
        match self.to_atom() {
            Atom::Str(text) => format!("{text:?}"),
            other => other.to_string(),
        }
    }
}

fn text(text: impl Into<Box<str>>) -> Atom {
    Atom::Str(text.into())
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl ToAtom for $integer {
            fn to_atom(&self) -> Atom {
                i128::try_from(*self).map_or_else(|_| text(self.to_string()), Atom::Int)
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

/// What is called by its text, without quotes in a list.
macro_rules! bare {
    ($($bare:ty)*) => {$(
        impl ToAtom for $bare {
            fn to_atom(&self) -> Atom {
                text(self.nested())
            }

            fn nested(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

bare!(bool f32 f64);

impl ToAtom for str {
    fn to_atom(&self) -> Atom {
        text(self)
    }
}

impl ToAtom for String {
    fn to_atom(&self) -> Atom {
        text(self.as_str())
    }
}

impl ToAtom for char {
    fn to_atom(&self) -> Atom {
        text(self.to_string())
    }
}

/// `null` and nothing else stands for no value.
impl<T: ToAtom> ToAtom for Option<T> {
    fn to_atom(&self) -> Atom {
        self.as_ref().map_or_else(|| text("null"), T::to_atom)
    }

    fn nested(&self) -> String {
        self.as_ref().map_or_else(|| "null".to_owned(), T::nested)
    }
}

impl<T: ToAtom> ToAtom for [T] {
    fn to_atom(&self) -> Atom {
        text(self.nested())
    }

    fn nested(&self) -> String {
        let items: Vec<String> = self.iter().map(T::nested).collect();
        list(&items)
    }
}

fn list(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

/// What is called like what it holds.
macro_rules! alike {
    ($($held:ident: $holder:ty),*) => {$(
        impl<$held: ToAtom + ?Sized> ToAtom for $holder {
            fn to_atom(&self) -> Atom {
                (**self).to_atom()
            }

            fn nested(&self) -> String {
                (**self).nested()
            }
        }
    )*};
}

alike!(T: &T, T: Box<T>, T: Rc<T>, T: Arc<T>);

impl<T: ToAtom> ToAtom for Vec<T> {
    fn to_atom(&self) -> Atom {
        self.as_slice().to_atom()
    }

    fn nested(&self) -> String {
        self.as_slice().nested()
    }
}

impl<T: ToAtom, const N: usize> ToAtom for [T; N] {
    fn to_atom(&self) -> Atom {
        self.as_slice().to_atom()
    }

    fn nested(&self) -> String {
        self.as_slice().nested()
    }
}

impl ToAtom for () {
    fn to_atom(&self) -> Atom {
        text("null")
    }

    fn nested(&self) -> String {
        "null".to_owned()
    }
}

macro_rules! tuples {
    ($(($($item:ident)*))*) => {$(
        impl<$($item: ToAtom),*> ToAtom for ($($item,)*) {
            fn to_atom(&self) -> Atom {
                text(self.nested())
            }

            #[expect(non_snake_case, reason = "the items are called like their types")]
            fn nested(&self) -> String {
                let ($($item,)*) = self;
                list(&[$($item.nested()),*])
            }
        }
    )*};
}

tuples!((A) (A B) (A B C) (A B C D));

/// A value by its JSON: a number or a text if that is all it is, the text of the JSON otherwise.
#[cfg(feature = "json")]
pub fn json_atom(value: &impl serde::Serialize) -> Atom {
    let json = serde_json::to_value(value).unwrap_or_else(|error| error.to_string().into());
    json.to_atom()
}

#[cfg(feature = "json")]
impl ToAtom for serde_json::Value {
    fn to_atom(&self) -> Atom {
        match self {
            serde_json::Value::Number(number) if number.is_i64() || number.is_u64() => {
                Atom::Int(number.as_i128().unwrap_or_default())
            }
            serde_json::Value::String(string) => text(string.as_str()),
            other => text(other.to_string()),
        }
    }

    fn nested(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_tuples_are_called_by_what_they_hold() {
        let names = |value: &dyn ToAtom| value.to_atom().to_string();
        assert_eq!(7u8.to_atom(), Atom::Int(7));
        assert_eq!("7".to_atom(), Atom::Str("7".into()));
        assert_eq!(names(&vec![Some(1), None]), "[1,null]");
        assert_eq!(names(&("a", true, [vec!["b\n"]])), r#"["a",true,[["b\n"]]]"#);
        assert_eq!(names(&Some(Arc::new(String::from("x")))), "x");
        assert_eq!(names(&u128::MAX), u128::MAX.to_string());
        assert_eq!(names(&()), "null");
    }

    #[cfg(feature = "json")]
    #[test]
    fn json_is_called_alike() {
        let value = serde_json::json!({"b": [1, "x"], "a": null});
        assert_eq!(value.to_atom(), Atom::Str(r#"{"a":null,"b":[1,"x"]}"#.into()));
        assert_eq!(json_atom(&vec![Some(1), None]), vec![Some(1), None].to_atom());
        assert_eq!(json_atom(&"7"), "7".to_atom());
    }
}
