//! Any text as the transactions of an audit: no panic, and what is read can be sent.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seriatim_audit::Template;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let Ok(template) = Template::parse(&text) else { return };
    for seed in 0..4 {
        let statements = template.example(seed);
        assert!(!statements.is_empty());
        assert!(statements.iter().all(|statement| !statement.contains("{register}")));
    }
});
