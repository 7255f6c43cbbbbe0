//! Rust files as flat lists of tokens, each with its line and the modules around it.
//!
//! Comments are not tokens; a doc comment is one string in an attribute. So what is found here is code.

use super::root;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::{collections::BTreeSet, fs, path::Path, rc::Rc};

/// The modules around a token, inside its file.
#[derive(Debug, Default)]
pub struct Scope {
    /// Inline modules, from the outside in.
    pub modules: Vec<String>,
    /// Whether the code is compiled for tests only.
    pub test: bool,
}

/// One token; a group becomes its opening sign, its contents and its closing sign.
#[derive(Debug)]
pub struct Token {
    /// As written.
    pub text: String,
    /// The line, from 1.
    pub line: usize,
    /// How many groups are open around it.
    pub depth: usize,
    /// The modules around it.
    pub scope: Rc<Scope>,
}

/// A module that a file declares.
#[derive(Debug)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// The line of the declaration.
    pub line: usize,
    /// Whether it is compiled for tests only.
    pub test: bool,
    /// Whether its code is in the same file.
    pub inline: bool,
}

/// A Rust file.
#[derive(Debug, Default)]
pub struct File {
    /// From the top of the repository: `crates/linerate/src/unit.rs`.
    pub path: String,
    /// The text.
    pub text: String,
    /// The code.
    pub tokens: Vec<Token>,
    /// The modules that it declares.
    pub declared: Vec<Declared>,
    /// The functions marked `#[test]`, each with its inline modules.
    pub tests: Vec<String>,
}

impl File {
    /// The file's tokens.
    pub fn parse(path: &str, text: &str) -> File {
        File::parse_as(path, text, false)
    }

    /// The file's tokens, all of them for tests only where the file is.
    fn parse_as(path: &str, text: &str, test: bool) -> File {
        let stream: TokenStream = text.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut file = File { path: path.into(), text: text.into(), ..File::default() };
        file.flatten(stream, 0, &Rc::new(Scope { modules: Vec::new(), test }));
        file
    }

    /// The files in which a module may be that this file declares.
    pub fn places(&self, module: &Declared) -> [String; 2] {
        let (folder, name) = self.path.rsplit_once('/').unwrap_or_default();
        let folder = match name {
            "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
            _ => format!("{folder}/{}", name.trim_end_matches(".rs")),
        };
        [format!("{folder}/{}.rs", module.name), format!("{folder}/{}/mod.rs", module.name)]
    }

    /// `path:line` of a token.
    pub fn at(&self, token: &Token) -> String {
        format!("{}:{}", self.path, token.line)
    }

    /// The path below `src/` of one of the crates that hold rooms: all but `linerate-sys`.
    pub fn in_src(&self) -> Option<&str> {
        let (name, path) = self.path.strip_prefix("crates/")?.split_once("/src/")?;
        (name != "linerate-sys").then_some(path)
    }

    /// Whether the tokens from `at` on read as `words`.
    pub fn reads(&self, at: usize, words: &[&str]) -> bool {
        let found = self.tokens[at..].iter().map(|token| token.text.as_str());
        words.len() <= self.tokens.len() - at && found.zip(words).all(|(token, word)| token == *word)
    }

    fn flatten(&mut self, stream: TokenStream, depth: usize, scope: &Rc<Scope>) {
        let mut attributes = String::new();
        for tree in stream {
            let line = tree.span().start().line;
            let TokenTree::Group(group) = tree else {
                let text = tree.to_string();
                if text == ";" {
                    self.note_module(&attributes, false);
                    attributes.clear();
                }
                self.tokens.push(Token { text, line, depth, scope: scope.clone() });
                self.note_test(&attributes);
                continue;
            };
            if group.delimiter() == Delimiter::Bracket && self.ends_with(&["#"]) {
                attributes += &group.to_string().replace(' ', "");
            }
            let inner = match group.delimiter() {
                Delimiter::Brace => self.note_module(&attributes, true),
                _ => None,
            };
            let (open, close) = signs(group.delimiter());
            let end = group.span_close().end().line;
            self.tokens.push(Token { text: open.into(), line, depth, scope: scope.clone() });
            self.flatten(group.stream(), depth + 1, inner.as_ref().unwrap_or(scope));
            self.tokens.push(Token { text: close.into(), line: end, depth, scope: scope.clone() });
            if group.delimiter() == Delimiter::Brace {
                attributes.clear();
            }
        }
    }

    fn ends_with(&self, words: &[&str]) -> bool {
        self.tokens.len() >= words.len() && self.reads(self.tokens.len() - words.len(), words)
    }

    /// Notes a module when the last two tokens declare one; returns the scope inside it.
    fn note_module(&mut self, attributes: &str, inline: bool) -> Option<Rc<Scope>> {
        let [.., keyword, name] = self.tokens.as_slice() else { return None };
        if keyword.text != "mod" {
            return None;
        }
        let test = keyword.scope.test || attributes.contains("cfg(test)");
        let modules = [keyword.scope.modules.clone(), vec![name.text.clone()]].concat();
        self.declared.push(Declared { name: name.text.clone(), line: name.line, test, inline });
        Some(Rc::new(Scope { modules, test }))
    }

    /// Notes a test when the last two tokens begin a function marked as one.
    fn note_test(&mut self, attributes: &str) {
        if let [.., keyword, name] = self.tokens.as_slice()
            && keyword.text == "fn"
            && attributes.contains("[test]")
        {
            let path = [keyword.scope.modules.clone(), vec![name.text.clone()]].concat();
            self.tests.push(path.join("::"));
        }
    }
}

fn signs(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::None => ("", ""),
    }
}

/// Every Rust file of the workspace.
pub fn rust_files() -> Vec<File> {
    let files = paths().into_iter().filter(|path| path.starts_with("crates/") && path.ends_with(".rs"));
    let mut files: Vec<_> =
        files.map(|path| File::parse(&path, &fs::read_to_string(root().join(&path)).unwrap())).collect();
    let mut known = 0;
    loop {
        let tests = for_tests(&files);
        if tests.len() == known {
            return files;
        }
        known = tests.len();
        for file in files.iter_mut().filter(|file| tests.contains(&file.path)) {
            *file = File::parse_as(&file.path, &file.text, true);
        }
    }
}

/// The files that are declared by `#[cfg(test)] mod NAME;`, as far as the scopes are known.
fn for_tests(files: &[File]) -> BTreeSet<String> {
    let declared = files.iter().flat_map(|file| file.declared.iter().map(move |module| (file, module)));
    let tests = declared.filter(|(_, module)| module.test && !module.inline);
    tests.flat_map(|(file, module)| file.places(module)).collect()
}

/// Every file of the repository by its path from the top; what is built or measured there is left out.
pub fn paths() -> Vec<String> {
    let mut paths = Vec::new();
    collect(&root(), &mut paths);
    paths.sort();
    paths
}

fn collect(folder: &Path, paths: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        if [".git", "target", "linerate"].contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() { collect(&path, paths) } else { paths.push(name) }
    }
}

#[test]
fn code_is_told_from_text_and_tests_from_code() {
    let text =
        "//! use crate::run\nmod a;\n#[cfg(test)]\nmod tests {\n #[test]\n fn works() { \"mod b;\"; }\n}\n";
    let file = File::parse("x.rs", text);
    assert_eq!(file.tests, ["tests::works"]);
    let declared: Vec<_> =
        file.declared.iter().map(|m| (m.name.as_str(), m.line, m.test, m.inline)).collect();
    assert_eq!(declared, [("a", 2, false, false), ("tests", 4, true, true)]);
    assert!(!file.tokens.iter().any(|token| token.text == "run"));
}
