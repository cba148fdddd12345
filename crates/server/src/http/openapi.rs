//! The description of the interface for programs: `openapi.json`, kept by hand and compared with
//! the routes.

use axum::http::header;
use axum::response::IntoResponse;

const DOCUMENT: &str = include_str!("openapi.json");

pub(super) async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::routes;
    use serde_json::Value;
    use std::collections::BTreeSet;

    fn document() -> Value {
        serde_json::from_str(DOCUMENT).unwrap()
    }

    #[test]
    fn every_route_is_described_and_nothing_else() {
        let document = document();
        let described: BTreeSet<(String, String)> = document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, methods)| {
                let methods =
                    methods.as_object().unwrap().keys().filter(|key| *key != "parameters");
                methods.map(|method| (method.to_uppercase(), path.clone()))
            })
            .collect();
        let routed =
            routes().into_iter().map(|(method, path, _)| (method.to_string(), path.to_owned()));
        assert_eq!(described, routed.collect());
    }

    #[test]
    fn references_lead_somewhere_and_operations_have_names() {
        let document = document();
        let mut waiting = vec![&document];
        let mut references = 0;
        while let Some(value) = waiting.pop() {
            if let Some(Value::String(target)) = value.get("$ref") {
                assert!(document.pointer(target.trim_start_matches('#')).is_some(), "{target}");
                references += 1;
            }
            waiting.extend(value.as_object().into_iter().flat_map(|object| object.values()));
            waiting.extend(value.as_array().into_iter().flatten());
        }
        assert!(references > 20);
        let operations = document["paths"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|path| path.as_object().unwrap());
        let operations: Vec<&Value> =
            operations.filter(|(key, _)| *key != "parameters").map(|(_, value)| value).collect();
        let names: BTreeSet<&str> =
            operations.iter().map(|operation| operation["operationId"].as_str().unwrap()).collect();
        assert_eq!(names.len(), operations.len());
        assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    }
}
