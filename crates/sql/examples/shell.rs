//! Runs the statements of standard input, one a line or separated by semicolons at line ends, and
//! prints rows as `psql -At` does with `VERBOSITY=sqlstate`. For comparing by hand:
//! `cargo run --example shell < file.sql`.

use seriatim_sql::database::Cluster;
use seriatim_sql::functions::Call;
use seriatim_sql::memory::Memory;
use seriatim_sql::session::{Reply, Session};
use seriatim_sql::types::{Oid, output};
use std::io::Read;
use std::sync::Arc;

fn main() {
    let mut text = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut text) {
        eprintln!("standard input: {error}");
        std::process::exit(3);
    }
    let cluster = Arc::new(Cluster::new(Arc::new(Memory::default())));
    let mut session = Session::connect(&cluster, "postgres", "postgres").expect("it is there");
    for statement in text.split(";\n") {
        if !statement.trim().is_empty() {
            run(&mut session, statement);
        }
    }
}

fn run(session: &mut Session, statement: &str) {
    let (replies, error) = session.simple(statement);
    for reply in &replies {
        print_reply(session, reply);
    }
    if let Some(error) = error {
        println!("ERROR:  {}", error.code());
        eprintln!("{statement}\n    {}", error.message());
    }
}

fn print_reply(session: &Session, reply: &Reply) {
    match reply {
        Reply::Rows { columns, rows, .. } => {
            let env = session.env();
            let call = Call { args: &[], result: Oid::TEXT, style: &env.style, types: &env };
            for row in rows {
                let cells: Vec<String> = row
                    .iter()
                    .zip(columns)
                    .map(|(value, column)| output(value, column.ty, &call))
                    .collect();
                println!("{}", cells.join("|"));
            }
        }
        Reply::Done(tag) => println!("{tag}"),
        other => println!("{other:?}"),
    }
}
