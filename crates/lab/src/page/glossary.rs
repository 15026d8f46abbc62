//! The words of the pages: what each means, in one or two sentences, and links to them from the texts.

use super::escape;
use std::fmt::Write;

/// A word: its name, other spellings that are linked to it, and its meaning.
struct Term {
    name: &'static str,
    also: &'static [&'static str],
    means: &'static str,
}

const fn term(name: &'static str, also: &'static [&'static str], means: &'static str) -> Term {
    Term { name, also, means }
}

const TERMS: [Term; 26] = [
    term("affinity mask", &["mask"], "The CPUs that the server's schedulers may use."),
    term(
        "arm",
        &["arms"],
        "One set of settings of an experiment. An arm named again repeats the first one: what the two differ by is noise.",
    ),
    term(
        "back-off",
        &["back-offs", "backs off"],
        "A spinner that looked long enough in vain gives its CPU away for a moment, and then goes on.",
    ),
    term(
        "classic",
        &["classic policies"],
        "The set of policies with which every point works as in the published engine: POLICIES = CLASSIC.",
    ),
    term("collision", &["collisions"], "An attempt to take a spinlock that finds it held."),
    term(
        "convoy",
        &[],
        "Threads that queue up at one lock, and go on in its pace: each hand-over costs a context switch.",
    ),
    term("CXPACKET", &["CXCONSUMER"], "Waits of the threads of a parallel statement for each other."),
    term(
        "delayed durability",
        &["delayed"],
        "A commit returns at once; its log record is written within milliseconds.",
    ),
    term("full durability", &["full"], "A commit returns when its log record is on stable storage."),
    term("group commit", &[], "One write to the log for the commits of many sessions."),
    term(
        "latch",
        &["latches", "LATCH_EX", "unfair latch", "fair latch"],
        "A lock on memory that a thread can wait for without using CPU. A fair one goes to the longest waiter; an unfair one to who comes first.",
    ),
    term("log buffer", &["ring"], "The memory in which log records wait for their write."),
    term(
        "log writer",
        &["log writers"],
        "A thread that writes the log buffer's blocks to the file and wakes the sessions whose commits are in them.",
    ),
    term("LOGCACHE_ACCESS", &[], "The spinlock under which the classic policies reserve room in the log buffer."),
    term("LOGFLUSHQ", &[], "The spinlock of the queue in which commits wait for their write."),
    term(
        "memory node",
        &["NUMA", "memory nodes"],
        "CPUs and the memory that is near to them. Large machines have several.",
    ),
    term("minimal logging", &[], "In SIMPLE recovery a bulk insert logs which pages it used, not its rows."),
    term(
        "nested transaction",
        &["NESTING_TRANSACTION_FULL", "NESTED_TRANSACTIONS"],
        "The part of a statement's transaction that one parallel worker has. The latch NESTING_TRANSACTION_FULL guards their common parent.",
    ),
    term(
        "policy",
        &["policies"],
        "How threads take turns at one point. Each can be switched: ALTER SERVER CONFIGURATION SET PIKEPOLE NAME = VALUE.",
    ),
    term(
        "scheduler",
        &["schedulers", "SIGNALLED_FIRST"],
        "One for each CPU of the mask. It runs one task at a time, and the next one when that waits or gives up its turn.",
    ),
    term("session", &["sessions"], "A connection with one statement at a time."),
    term("signal wait", &[], "The time from the signal that a wait is over to running again."),
    term(
        "spin",
        &["spins", "spinlock", "spinlocks"],
        "A thread that finds a spinlock held looks again and again, and uses its CPU meanwhile. Spins count the looks.",
    ),
    term(
        "trace flag",
        &["trace flags", "8015", "8048", "3933"],
        "A switch by number: 8015 makes one node of all CPUs, 8048 parts memory objects by CPU, 3933 makes the nested transactions' latch unfair.",
    ),
    term("WRITELOG", &[], "The wait of a session for its commit to be on stable storage."),
    term("XDESMGR", &[], "The spinlock under which the classic policies give out and take back transaction ids."),
];

fn id(term: &Term) -> String {
    format!("term-{}", term.name.to_ascii_lowercase().replace(' ', "-"))
}

/// The words that a page used, in the order in which they are asked for, and so its glossary.
#[derive(Default)]
pub(super) struct Glossary {
    used: [bool; TERMS.len()],
}

impl Glossary {
    /// A text as HTML, with the first use of each word in it linked to its meaning.
    pub(super) fn linked(&mut self, text: &str) -> String {
        let mut html = String::with_capacity(text.len());
        let mut linked = [false; TERMS.len()];
        let mut rest = text;
        let mut before = ' ';
        while let Some(first) = rest.chars().next() {
            let found = if is_letter(before) { None } else { longest(rest) };
            match found {
                Some((place, length)) => {
                    let word = escape(&rest[..length]);
                    if linked[place] {
                        html.push_str(&word);
                    } else {
                        // Writing to a string cannot fail; so everywhere below.
                        let _ = write!(html, "<a class='term' href='#{}'>{word}</a>", id(&TERMS[place]));
                    }
                    linked[place] = true;
                    self.used[place] = true;
                    before = rest[..length].chars().next_back().unwrap_or(' ');
                    rest = &rest[length..];
                }
                None => {
                    html.push_str(&escape(&rest[..first.len_utf8()]));
                    before = first;
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        html
    }

    /// Explains the words of a text that has no links.
    pub(super) fn explain(&mut self, text: &str) {
        self.linked(text);
    }

    /// The meanings of the words that were linked.
    pub(super) fn html(&self) -> String {
        let entry = |(term, _): (&Term, &bool)| {
            format!("<div id='{}'><dt>{}</dt><dd>{}</dd></div>", id(term), escape(term.name), escape(term.means))
        };
        let used = TERMS.iter().zip(&self.used).filter(|(_, used)| **used);
        let entries: String = used.map(entry).collect();
        if entries.is_empty() {
            return String::new();
        }
        format!("<h2>Words on this page</h2><div class='card'><dl class='terms'>{entries}</dl></div>")
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// The longest word that the text begins with: its place and its bytes.
fn longest(text: &str) -> Option<(usize, usize)> {
    let spellings = |(place, term): (usize, &'static Term)| {
        std::iter::once(term.name).chain(term.also.iter().copied()).map(move |spelling| (place, spelling))
    };
    let fits = |(_, spelling): &(usize, &str)| {
        let begins = text.get(..spelling.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(spelling));
        begins && !text[spelling.len()..].starts_with(is_letter)
    };
    let all = TERMS.iter().enumerate().flat_map(spellings).filter(fits);
    all.max_by_key(|(_, spelling)| spelling.len()).map(|(place, spelling)| (place, spelling.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_use_of_a_word_is_linked_and_explained() {
        let mut glossary = Glossary::default();
        let html =
            glossary.linked("Log writers & one log writer spin; LOGCACHE_ACCESSES do not, <b>respins</b> neither");
        assert_eq!(
            html,
            "<a class='term' href='#term-log-writer'>Log writers</a> &amp; one log writer \
             <a class='term' href='#term-spin'>spin</a>; LOGCACHE_ACCESSES do not, &lt;b&gt;respins&lt;/b&gt; neither"
        );
        let words = glossary.html();
        assert!(words.contains("id='term-log-writer'") && words.contains("id='term-spin'"), "{words}");
        assert!(!words.contains("id='term-convoy'"), "only the words of the page");
        assert_eq!(Glossary::default().html(), "");
    }

    #[test]
    fn words_are_in_order_and_named_once() {
        let lower: Vec<String> = TERMS.iter().map(|term| term.name.to_ascii_lowercase()).collect();
        assert!(lower.is_sorted(), "{lower:?}");
        let mut spellings: Vec<&str> =
            TERMS.iter().flat_map(|term| std::iter::once(term.name).chain(term.also.iter().copied())).collect();
        let count = spellings.len();
        spellings.sort_unstable();
        spellings.dedup();
        assert_eq!(spellings.len(), count, "a spelling leads to one word");
    }

    #[test]
    fn texts_that_end_inside_a_letter_are_whole() {
        assert_eq!(Glossary::default().linked("arµ ß"), "arµ ß");
    }
}
