//! Names of functions as people read them, and stacks without what says nothing.

use super::modules::Function;

/// A frame of a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    /// The function's path, without what the compiler adds to it.
    pub name: String,
}

/// Paths of the language's own library, and of the runtime between a scheduler's loop and its tasks.
const LIBRARY: [&str; 6] = ["core::", "core_arch::", "alloc::", "std::", "__rustc", "tokio::"];

/// A path without generic arguments, closures, hashes, and the marks of traits: `<a::B as c::D>::e` is `a::B::e`.
pub(super) fn readable(name: &str) -> String {
    let mut name = name.to_owned();
    // `<A as T>::f`: the type's own path stands for it; for a type that is a reference, what it refers to.
    while name.starts_with('<') {
        let Some(end) = matching(&name) else { break };
        let inner = &name[1..end];
        let own = split_as(inner);
        let own = own.trim_start_matches(['&', '*']).trim_start_matches("mut ").trim_start_matches("const ").to_owned();
        name = format!("{own}{}", &name[end + 1..]);
    }
    let mut plain = String::with_capacity(name.len());
    let mut depth = 0_usize;
    let mut before = ' ';
    for c in name.chars() {
        match c {
            '<' => depth += 1,
            // The arrow of a function's type ends nothing.
            '>' if before != '-' => depth = depth.saturating_sub(1),
            c if depth == 0 => plain.push(c),
            _ => {}
        }
        before = c;
    }
    let parts = plain.split("::").filter(|part| !part.is_empty() && !part.starts_with('{') && !is_hash(part));
    let parts: Vec<&str> = parts.collect();
    if parts.is_empty() { name } else { parts.join("::") }
}

/// The module that a source file is: what stands behind its `src`, below the crate whose folder that is.
pub(super) fn module_of_file(file: &str) -> Option<String> {
    let parts: Vec<&str> = file.strip_suffix(".rs")?.split('/').collect();
    let source = parts.iter().rposition(|part| *part == "src").filter(|place| *place > 0)?;
    let folder = parts[source - 1];
    // The language's own library has a folder of crates too.
    let is_library = file.starts_with("/rustc/");
    let is_ours = source > 1 && parts[source - 2] == "crates" && folder != "pikepole" && !is_library;
    // A folder of the package registry ends with the version.
    let version = folder.match_indices('-').find(|(at, _)| folder[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    let package = folder[..version.map_or(folder.len(), |(at, _)| at)].replace('-', "_");
    let package = if is_ours { format!("pikepole_{package}") } else { package };
    let modules = parts[source + 1..].iter().filter(|part| !["lib", "main", "mod"].contains(part));
    Some(std::iter::once(package.as_str()).chain(modules.copied()).collect::<Vec<_>>().join("::"))
}

/// The place of the `>` that ends the `<` at the start.
fn matching(name: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (place, c) in name.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(place);
        }
        before = c;
    }
    None
}

/// What stands before ` as ` outside of brackets.
fn split_as(inner: &str) -> &str {
    let mut depth = 0_usize;
    for (place, c) in inner.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && inner[place..].starts_with(" as ") => return &inner[..place],
            _ => {}
        }
    }
    inner
}

fn is_hash(part: &str) -> bool {
    part.len() == 17 && part.starts_with('h') && part[1..].bytes().all(|b| b.is_ascii_hexdigit())
}

fn is_library(name: &str) -> bool {
    LIBRARY.iter().any(|library| name.starts_with(library))
}

/// The frames of a stack, the innermost first, out of the functions of its addresses. The language's own library and the
/// runtime are left out, but for a function of them that has code of its own and is the innermost; so are repeats of one name.
pub(super) fn frames<'a>(functions: impl Iterator<Item = &'a Function>) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    for function in functions {
        let name = readable(&function.name);
        if is_library(&name) && (function.inlined || !frames.is_empty()) {
            continue;
        }
        match frames.last_mut() {
            Some(last) if last.name == name => {}
            // Of a closure's name only its module may be left; the function of that module it was put into says more.
            Some(last) if name.strip_prefix(&last.name).is_some_and(|rest| rest.starts_with("::")) => last.name = name,
            _ => frames.push(Frame { name }),
        }
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths() {
        for (name, wanted) in [
            ("pikepole_log::log::Log::append_in::h0123456789abcdef", "pikepole_log::log::Log::append_in"),
            ("pikepole_query::run::step::{{closure}}::{{closure}}::h0123456789abcdef", "pikepole_query::run::step"),
            ("pikepole_query::run::step::{closure#0}", "pikepole_query::run::step"),
            ("pikepole_query::run::{async_fn#0}<pikepole_query::run::A>", "pikepole_query::run"),
            ("pikepole_query::run::{impl#3}::step<u8>", "pikepole_query::run::step"),
            ("<pikepole_log::commit::Waiter as core::ops::drop::Drop>::drop", "pikepole_log::commit::Waiter::drop"),
            ("<&mut pikepole_log::A<B, C<D>> as core::fmt::Debug>::fmt", "pikepole_log::A::fmt"),
            ("<F as core::ops::FnOnce<(A,)>>::call_once", "F::call_once"),
            ("<<a::B as c::D>::E as f::G>::h", "a::B::E::h"),
            ("core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place"),
            ("a::b::<fn(u8) -> u8>::c", "a::b::c"),
            ("pwrite64", "pwrite64"),
            ("<", "<"),
        ] {
            assert_eq!(readable(name), wanted, "{name}");
        }
    }

    #[test]
    fn files_are_modules() {
        for (file, wanted) in [
            ("/home/a/pikepole/crates/log/src/reservation/chunk.rs", Some("pikepole_log::reservation::chunk")),
            ("/home/a/crates/pikepole/src/main.rs", Some("pikepole")),
            ("/home/src/b/crates/lab/src/profile/mod.rs", Some("pikepole_lab::profile")),
            ("/rustc/59807616/library/core/src/num/uint_macros.rs", Some("core::num::uint_macros")),
            ("/rustc/5980/library/stdarch/crates/core_arch/src/x86/sse2.rs", Some("core_arch::x86::sse2")),
            ("/home/a/.cargo/registry/src/index-1949/io-uring-0.7.10/src/submit.rs", Some("io_uring::submit")),
            ("../sysdeps/unix/syscall-template.S", None),
            ("src/lib.rs", None),
            ("", None),
        ] {
            assert_eq!(module_of_file(file).as_deref(), wanted, "{file}");
        }
    }

    #[test]
    fn the_library_shows_only_as_the_innermost_function() {
        let function = |name: &str, inlined| Function { name: name.to_owned(), inlined };
        let of = |functions: &[Function]| -> Vec<String> {
            frames(functions.iter()).into_iter().map(|frame| frame.name).collect()
        };
        let run = function("pikepole_query::run::step", false);
        let closure = function("pikepole_query::run::step::{{closure}}", false);
        let poll = function("core::future::Future::poll", false);
        assert_eq!(
            of(&[function("core::sync::atomic::AtomicU64::load", true), run.clone()]),
            ["pikepole_query::run::step"]
        );
        assert_eq!(
            of(&[function("core::fmt::write", false), poll, closure, run]),
            ["core::fmt::write", "pikepole_query::run::step"]
        );
        // As tables of lines alone name them: the closure is in the module of the function it was put into, or in another.
        let closure = function("pikepole_query::run::{closure#0}<u8>", true);
        let sort = function("pikepole_types::row::sort", false);
        let step = function("pikepole_query::run::step", false);
        assert_eq!(of(&[closure.clone(), step.clone()]), ["pikepole_query::run::step"]);
        assert_eq!(
            of(&[closure, sort, step]),
            ["pikepole_query::run", "pikepole_types::row::sort", "pikepole_query::run::step"]
        );
    }
}
