//! The catalog: objects by identifier and by name.

use super::builtin::builtin;
use super::objects::{
    Extension, Index, Object, Schema, Sequence, Table, UserType, UserTypeKind, View,
};
use crate::error::{Result, SqlError, code};
use crate::types::{Field, Oid, TypeKind};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The schemas that are always there.
pub mod schema {
    use crate::types::Oid;
    /// Built-in objects.
    pub const PG_CATALOG: Oid = Oid(11);
    /// The standard's views of the catalog.
    pub const INFORMATION_SCHEMA: Oid = Oid(13_207);
    /// Where users make things unless they say otherwise.
    pub const PUBLIC: Oid = Oid(2200);
    /// Large values; there are none here, but queries name it.
    pub const PG_TOAST: Oid = Oid(99);
}

/// In which schemas a name without one is looked for.
#[derive(Clone, Debug)]
pub struct SearchPath {
    /// The schemas, in their order; pg_catalog comes first unless it is among them.
    pub schemas: Vec<Oid>,
    /// The schema of temporary objects of the session, which comes before all others.
    pub temporary: Option<Oid>,
}

impl SearchPath {
    /// All schemas in the order in which they are searched for relations.
    pub fn all(&self) -> impl Iterator<Item = Oid> + '_ {
        let implicit = (!self.schemas.contains(&schema::PG_CATALOG)).then_some(schema::PG_CATALOG);
        let temporary = self.temporary.filter(|oid| !self.schemas.contains(oid));
        temporary.into_iter().chain(implicit).chain(self.schemas.iter().copied())
    }

    /// Where new objects go.
    pub fn first(&self) -> Option<Oid> {
        self.schemas.first().copied()
    }
}

/// Something with rows, or named like it.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Relation {
    Table(Arc<Table>),
    View(Arc<View>),
    Index(Arc<Index>),
    Sequence(Arc<Sequence>),
}

/// Everything that users made.
#[derive(Clone, Debug)]
pub struct Catalog {
    objects: BTreeMap<Oid, Object>,
    relations: FxHashMap<(Oid, Arc<str>), Oid>,
    types: FxHashMap<(Oid, Arc<str>), Oid>,
    schemas: FxHashMap<Arc<str>, Oid>,
    /// The elements of array types.
    elements: FxHashMap<Oid, Oid>,
    /// The relations of row types.
    rows: FxHashMap<Oid, Oid>,
    /// What is said about schemas and other things by identifier, class and column.
    pub comments: BTreeMap<(Oid, u32), Arc<str>>,
}

impl Default for Catalog {
    fn default() -> Catalog {
        let mut catalog = Catalog {
            objects: BTreeMap::new(),
            relations: FxHashMap::default(),
            types: FxHashMap::default(),
            schemas: FxHashMap::default(),
            elements: FxHashMap::default(),
            rows: FxHashMap::default(),
            comments: BTreeMap::new(),
        };
        for (oid, name) in [
            (schema::PG_CATALOG, "pg_catalog"),
            (schema::INFORMATION_SCHEMA, "information_schema"),
            (schema::PUBLIC, "public"),
            (schema::PG_TOAST, "pg_toast"),
        ] {
            catalog.put(oid, Object::Schema(Arc::new(Schema { oid, name: name.into() })));
        }
        catalog
    }
}

impl Catalog {
    /// Adds an object, or puts it in the place of the one that has its identifier.
    pub fn put(&mut self, oid: Oid, object: Object) {
        self.remove(oid);
        match &object {
            Object::Schema(it) => {
                self.schemas.insert(Arc::clone(&it.name), oid);
            }
            Object::Type(it) => {
                self.types.insert((it.schema, Arc::clone(&it.name)), oid);
                self.add_array(it.schema, &it.name, oid, it.array);
            }
            Object::Table(it) => {
                self.relations.insert((it.schema, Arc::clone(&it.name)), oid);
                self.types.insert((it.schema, Arc::clone(&it.name)), it.row_type);
                self.rows.insert(it.row_type, oid);
                self.add_array(it.schema, &it.name, it.row_type, it.row_array_type);
            }
            Object::View(it) => {
                self.relations.insert((it.schema, Arc::clone(&it.name)), oid);
                self.types.insert((it.schema, Arc::clone(&it.name)), it.row_type);
                self.rows.insert(it.row_type, oid);
            }
            Object::Extension(_) | Object::Collation(_) => {}
            Object::Index(_) | Object::Sequence(_) => {
                if let Some((schema, name)) = object.place() {
                    self.relations.insert((schema, Arc::clone(name)), oid);
                }
            }
        }
        self.objects.insert(oid, object);
    }

    fn add_array(&mut self, schema: Oid, name: &str, element: Oid, array: Oid) {
        self.types.insert((schema, format!("_{name}").into()), array);
        self.elements.insert(array, element);
    }

    /// Removes an object.
    pub fn remove(&mut self, oid: Oid) -> Option<Object> {
        let object = self.objects.remove(&oid)?;
        if let Object::Schema(it) = &object {
            self.schemas.remove(&it.name);
        }
        if let Some((schema, name)) = object.place() {
            let place = (schema, Arc::clone(name));
            let array = (schema, Arc::from(format!("_{name}")));
            match &object {
                Object::Type(it) => {
                    self.types.remove(&place);
                    self.types.remove(&array);
                    self.elements.remove(&it.array);
                }
                Object::Table(it) => {
                    self.relations.remove(&place);
                    self.types.remove(&place);
                    self.types.remove(&array);
                    self.elements.remove(&it.row_array_type);
                    self.rows.remove(&it.row_type);
                }
                Object::View(it) => {
                    self.relations.remove(&place);
                    self.types.remove(&place);
                    self.rows.remove(&it.row_type);
                }
                _ => {
                    self.relations.remove(&place);
                }
            }
        }
        Some(object)
    }

    /// An object by its identifier.
    pub fn get(&self, oid: Oid) -> Option<&Object> {
        self.objects.get(&oid)
    }

    /// All objects, by identifier.
    pub fn objects(&self) -> impl Iterator<Item = (Oid, &Object)> {
        self.objects.iter().map(|(&oid, object)| (oid, object))
    }

    /// A schema by its name.
    pub fn schema(&self, name: &str) -> Option<Oid> {
        self.schemas.get(name).copied()
    }

    /// The name of a schema.
    pub fn schema_name(&self, oid: Oid) -> Arc<str> {
        match self.objects.get(&oid) {
            Some(Object::Schema(it)) => Arc::clone(&it.name),
            _ => "pg_temp".into(),
        }
    }

    /// A schema by its name, or an error.
    pub fn need_schema(&self, name: &str) -> Result<Oid> {
        let missing = || {
            let message = format!("schema \"{name}\" does not exist");
            SqlError::new(code::INVALID_SCHEMA_NAME, message)
        };
        self.schema(name).ok_or_else(missing)
    }

    /// A table by its identifier.
    pub fn table(&self, oid: Oid) -> Option<&Arc<Table>> {
        match self.objects.get(&oid) {
            Some(Object::Table(table)) => Some(table),
            _ => None,
        }
    }

    /// An index by its identifier.
    pub fn index(&self, oid: Oid) -> Option<&Arc<Index>> {
        match self.objects.get(&oid) {
            Some(Object::Index(index)) => Some(index),
            _ => None,
        }
    }

    /// A sequence by its identifier.
    pub fn sequence(&self, oid: Oid) -> Option<&Arc<Sequence>> {
        match self.objects.get(&oid) {
            Some(Object::Sequence(sequence)) => Some(sequence),
            _ => None,
        }
    }

    /// A type of users by its identifier.
    pub fn user_type(&self, oid: Oid) -> Option<&Arc<UserType>> {
        match self.objects.get(&oid) {
            Some(Object::Type(ty)) => Some(ty),
            _ => None,
        }
    }

    /// The extensions that were created.
    pub fn extensions(&self) -> impl Iterator<Item = &Extension> {
        self.objects().filter_map(|(_, object)| match object {
            Object::Extension(it) => Some(it),
            _ => None,
        })
    }

    /// The views that stand on a relation, with their queries.
    pub fn views_on(&self, oid: Oid) -> impl Iterator<Item = (Oid, &Arc<str>)> {
        self.objects().filter_map(move |(view, object)| {
            let (text, depends_on) = object.query()?;
            depends_on.contains(&oid).then_some((view, text))
        })
    }

    /// A relation by its identifier.
    pub fn relation_by_oid(&self, oid: Oid) -> Option<Relation> {
        Some(match self.objects.get(&oid)? {
            Object::Table(it) => Relation::Table(Arc::clone(it)),
            Object::View(it) => Relation::View(Arc::clone(it)),
            Object::Index(it) => Relation::Index(Arc::clone(it)),
            Object::Sequence(it) => Relation::Sequence(Arc::clone(it)),
            _ => return None,
        })
    }

    /// A relation in a schema.
    pub fn relation_in(&self, schema: Oid, name: &str) -> Option<Oid> {
        self.relations.get(&(schema, Arc::from(name))).copied()
    }

    /// A relation by its name, in a schema or on the path.
    pub fn find_relation(&self, schema: Option<Oid>, name: &str, path: &SearchPath) -> Option<Oid> {
        match schema {
            Some(schema) => self.relation_in(schema, name),
            None => path.all().find_map(|schema| self.relation_in(schema, name)),
        }
    }

    /// A type of users by its name, in a schema or on the path.
    pub fn find_type(&self, schema: Option<Oid>, name: &str, path: &SearchPath) -> Option<Oid> {
        let builtin_type = || builtin().type_names.get(name).copied();
        let in_schema = |oid: Oid| match oid {
            schema::PG_CATALOG => builtin_type(),
            _ => self.types.get(&(oid, Arc::from(name))).copied(),
        };
        match schema {
            Some(schema) => in_schema(schema),
            None => path.all().find_map(in_schema),
        }
    }

    /// The relation whose rows are of this type.
    pub fn relation_of_row_type(&self, ty: Oid) -> Option<Oid> {
        self.rows.get(&ty).copied()
    }

    /// The type of the elements of an array type.
    pub fn element_of(&self, ty: Oid) -> Option<Oid> {
        if let Some(found) = builtin().types.get(&ty) {
            return (found.element != Oid::NONE && found.is_true_array()).then_some(found.element);
        }
        self.elements.get(&ty).copied()
    }

    /// The type of arrays of a type.
    pub fn array_of(&self, ty: Oid) -> Option<Oid> {
        if let Some(found) = builtin().types.get(&ty) {
            return (found.array != Oid::NONE).then_some(found.array);
        }
        if let Some(relation) = self.rows.get(&ty) {
            return self.table(*relation).map(|table| table.row_array_type);
        }
        self.user_type(ty).map(|ty| ty.array)
    }

    /// What kind of type it is.
    pub fn kind(&self, ty: Oid) -> Option<TypeKind> {
        if let Some(found) = builtin().types.get(&ty) {
            let is_array = found.element != Oid::NONE && found.is_true_array();
            return Some(match found.kind {
                _ if is_array => TypeKind::Array(found.element),
                b'p' => TypeKind::Pseudo,
                _ => TypeKind::Base,
            });
        }
        if let Some(&element) = self.elements.get(&ty) {
            return Some(TypeKind::Array(element));
        }
        if let Some(&relation) = self.rows.get(&ty) {
            return Some(TypeKind::Composite(self.fields_of(relation)));
        }
        Some(match &self.user_type(ty)?.kind {
            UserTypeKind::Enum(labels) => TypeKind::Enum(Arc::clone(labels)),
            UserTypeKind::Domain(it) => TypeKind::Domain { base: it.base, typmod: it.typmod },
            UserTypeKind::Composite(fields) => TypeKind::Composite(Arc::clone(fields)),
        })
    }

    /// The columns of a table or view as fields.
    pub fn fields_of(&self, relation: Oid) -> Arc<[Field]> {
        let columns = match self.objects.get(&relation) {
            Some(Object::Table(it)) => &it.columns[..],
            Some(Object::View(it)) => &it.columns[..],
            _ => &[],
        };
        columns
            .iter()
            .filter(|column| !column.dropped)
            .map(|it| Field { name: Arc::clone(&it.name), ty: it.ty, typmod: it.typmod })
            .collect()
    }

    /// A domain stands for another type; any other type for itself.
    pub fn base_type(&self, ty: Oid) -> Oid {
        let mut ty = ty;
        // A domain is made of types that were there before it, so that this ends.
        while let Some(TypeKind::Domain { base, .. }) = self.kind(ty) {
            ty = base;
        }
        ty
    }

    /// The letter of the category of a type, and whether it is preferred there.
    pub fn category(&self, ty: Oid) -> (u8, bool) {
        if let Some(found) = builtin().types.get(&ty) {
            return (found.category, found.preferred);
        }
        match self.kind(ty) {
            Some(TypeKind::Array(_)) => (b'A', false),
            Some(TypeKind::Enum(_)) => (b'E', false),
            Some(TypeKind::Composite(_)) => (b'C', false),
            Some(TypeKind::Domain { base, .. }) => (self.category(base).0, false),
            _ => (b'U', false),
        }
    }

    /// Whether a relation is found without its schema.
    pub fn is_visible(&self, oid: Oid, path: &SearchPath) -> bool {
        let Some((_, name)) = self.objects.get(&oid).and_then(Object::place) else { return false };
        match self.objects.get(&oid) {
            Some(Object::Type(_)) => self.find_type(None, name, path) == Some(oid),
            _ => self.find_relation(None, name, path) == Some(oid),
        }
    }
}
