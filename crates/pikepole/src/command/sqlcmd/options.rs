//! The command line of sqlcmd: a letter each, whose value may follow at once or as the next argument.

use pikepole_types::CodePage;
use std::path::PathBuf;

/// Characters of a login's name, its password and their like.
const TEXT_CHARACTERS_MAX: usize = 128;

/// The part of the connection that is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// `-Ns`: from the first byte on.
    Strict,
    /// `-N`, `-Nm`: everything.
    Mandatory,
    /// `-No`: the login when the server can; the rest when it asks for it.
    Optional,
}

/// The messages that go to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirection {
    /// None.
    Nothing,
    /// `-r`, `-r0`: errors, whose severity is above 10.
    Errors,
    /// `-r1`: all, what PRINT says too.
    All,
}

/// The treatment of control characters in values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlCharacters {
    /// They are printed.
    Keep,
    /// `-k`
    Remove,
    /// `-k1`: each is a blank.
    Replace,
    /// `-k2`: those that follow each other are one blank.
    ReplaceRuns,
}

/// A query on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// `-q`: then goes on with its input.
    Begin(String),
    /// `-Q`
    Only(String),
}

/// The command line, read.
#[derive(Debug)]
pub struct Options {
    /// `-?`
    pub shows_usage: bool,
    /// Variables that options stand for: name and value.
    pub settings: Vec<(&'static str, String)>,
    /// `-v`: name and value.
    pub variables: Vec<(String, String)>,
    /// `-P`
    pub password: Option<String>,
    /// `-z`, `-Z`
    pub new_password: Option<String>,
    /// `-Z`
    pub only_changes_password: bool,
    /// `-N`
    pub encryption: Option<Encryption>,
    /// `-C`
    pub trusts_certificate: bool,
    /// `-F`
    pub certificate_host: Option<String>,
    /// `-K`
    pub is_read_only: bool,
    /// `-q`, `-Q`
    pub query: Option<Query>,
    /// `-i`
    pub inputs: Vec<PathBuf>,
    /// `-o`
    pub output: Option<PathBuf>,
    /// `-u`
    pub is_unicode: bool,
    /// `-f`
    pub input_page: Option<CodePage>,
    /// `-f`
    pub output_page: Option<CodePage>,
    /// `-b`
    pub stops_on_error: bool,
    /// `-V`
    pub severity: Option<u8>,
    /// `-r`
    pub redirection: Redirection,
    /// `-j`
    pub is_raw: bool,
    /// `-e`
    pub echoes: bool,
    /// `-p`, and whether with colons.
    pub statistics: Option<bool>,
    /// `-c`
    pub terminator: Option<String>,
    /// `-I`
    pub quotes_identifiers: bool,
    /// `-x`
    pub no_variables: bool,
    /// `-X`, and whether a disabled command is an error.
    pub restricted: Option<bool>,
    /// `-W`
    pub trims: bool,
    /// `-k`
    pub control_characters: ControlCharacters,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            shows_usage: false,
            settings: Vec::new(),
            variables: Vec::new(),
            password: None,
            new_password: None,
            only_changes_password: false,
            encryption: None,
            trusts_certificate: false,
            certificate_host: None,
            is_read_only: false,
            query: None,
            inputs: Vec::new(),
            output: None,
            is_unicode: false,
            input_page: None,
            output_page: None,
            stops_on_error: false,
            severity: None,
            redirection: Redirection::Nothing,
            is_raw: false,
            echoes: false,
            statistics: None,
            terminator: None,
            quotes_identifiers: false,
            no_variables: false,
            restricted: None,
            trims: false,
            control_characters: ControlCharacters::Keep,
        }
    }
}

/// Options of the vendor's that are refused, each with the reason.
const REFUSED: &[(char, &str)] = &[
    ('A', "There is no dedicated administrator connection."),
    ('D', "There are no data sources of ODBC; give the server with -S."),
    ('E', "Trusted connections need Kerberos, which is not supported; give a login with -U."),
    ('g', "Column encryption is not supported."),
    ('G', "Microsoft Entra authentication is not supported; give a login with -U."),
    ('L', "Servers cannot be listed."),
];

impl Options {
    /// Reads the arguments behind the program's name.
    ///
    /// # Errors
    /// The first mistake, as one line without the program's name.
    pub fn parse(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options::default();
        let mut rest = arguments;
        while let Some((argument, behind)) = rest.split_first() {
            rest = behind;
            let Some(text) = argument.strip_prefix('-').filter(|text| !text.is_empty()) else {
                return Err(format!("'{argument}': Unexpected argument. Enter '-?' for help."));
            };
            if matches!(text, "?" | "-help") {
                options.shows_usage = true;
                return Ok(options);
            }
            let mut letters = text.chars();
            let letter = letters.next().unwrap_or('-');
            let mut cursor = Cursor { argument, letter, attached: letters.as_str(), rest };
            options.take(&mut cursor)?;
            rest = cursor.rest;
        }
        options.check()?;
        Ok(options)
    }

    fn take(&mut self, at: &mut Cursor<'_>) -> Result<(), String> {
        if let Some((_, reason)) = REFUSED.iter().find(|(letter, _)| *letter == at.letter) {
            return Err(format!("'-{}': {reason}", at.letter));
        }
        match at.letter {
            'a' => self.set("SQLCMDPACKETSIZE", at.number(512, 32767)?),
            'd' => self.set("SQLCMDDBNAME", at.text()?),
            'h' => self.set("SQLCMDHEADERS", at.number(-1, i64::from(i32::MAX))?),
            'H' => self.set("SQLCMDWORKSTATION", at.text()?),
            'l' => self.set("SQLCMDLOGINTIMEOUT", at.number(0, 65534)?),
            'm' => self.set("SQLCMDERRORLEVEL", at.number(-1, 25)?),
            's' => self.set("SQLCMDCOLSEP", at.text_of(1)?),
            'S' => self.set("SQLCMDSERVER", at.value()?),
            't' => self.set("SQLCMDSTATTIMEOUT", at.number(0, 65534)?),
            'U' => self.set("SQLCMDUSER", at.text()?),
            'w' => self.set("SQLCMDCOLWIDTH", at.number(9, 65535)?),
            'y' => self.set("SQLCMDMAXVARTYPEWIDTH", at.number(0, 8000)?),
            'Y' => self.set("SQLCMDMAXFIXEDTYPEWIDTH", at.number(0, 8000)?),
            'c' => self.terminator = Some(at.value()?),
            'F' => self.certificate_host = Some(at.value()?),
            'f' => self.code_pages(at)?,
            'i' => self.inputs.extend(at.value()?.split(',').filter(|name| !name.is_empty()).map(PathBuf::from)),
            'K' => match at.value()? {
                intent if intent.eq_ignore_ascii_case("ReadOnly") => self.is_read_only = true,
                intent => return Err(format!("'-K {intent}': Unexpected argument. Only ReadOnly is supported.")),
            },
            'N' => self.encryption = Some(at.encryption()?),
            'o' => self.output = Some(PathBuf::from(at.value()?)),
            'P' => self.password = Some(at.text()?),
            'q' => self.query = Some(Query::Begin(at.value()?)),
            'Q' => self.query = Some(Query::Only(at.value()?)),
            'v' => self.variables(at)?,
            'V' => self.severity = Some(at.severity()?),
            'z' => self.new_password = Some(at.text()?),
            'Z' => (self.new_password, self.only_changes_password) = (Some(at.text()?), true),
            'k' => {
                self.control_characters = match at.choice(&["1", "2"])? {
                    Some("1") => ControlCharacters::Replace,
                    Some(_) => ControlCharacters::ReplaceRuns,
                    None => ControlCharacters::Remove,
                }
            }
            'p' => self.statistics = Some(at.choice(&["1"])?.is_some()),
            'r' => {
                self.redirection = match at.choice(&["0", "1"])? {
                    Some("1") => Redirection::All,
                    _ => Redirection::Errors,
                }
            }
            'X' => self.restricted = Some(at.choice(&["1"])?.is_some()),
            _ => return self.take_switch(at),
        }
        Ok(())
    }

    /// Takes an option without a value.
    fn take_switch(&mut self, at: &Cursor<'_>) -> Result<(), String> {
        if !at.attached.is_empty() {
            return Err(at.unknown());
        }
        match at.letter {
            'b' => self.stops_on_error = true,
            'C' => self.trusts_certificate = true,
            'e' => self.echoes = true,
            'I' => self.quotes_identifiers = true,
            'j' => self.is_raw = true,
            'u' => self.is_unicode = true,
            'W' => self.trims = true,
            'x' => self.no_variables = true,
            // All addresses of a name are tried in any case, and values are shown in one form.
            'M' | 'R' => {}
            _ => return Err(at.unknown()),
        }
        Ok(())
    }

    fn set(&mut self, name: &'static str, value: String) {
        self.settings.retain(|(other, _)| *other != name);
        self.settings.push((name, value));
    }

    /// An option's variable, when the option was given.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str())
    }

    /// `-v NAME=VALUE`, and further ones as arguments of their own; blanks may stand before the `=`.
    fn variables(&mut self, at: &mut Cursor<'_>) -> Result<(), String> {
        let mut next = Some(at.value()?);
        while let Some(mut given) = next {
            if !given.contains('=') && at.rest.first().is_some_and(|value| value.starts_with('=')) {
                given += &at.value()?;
            }
            let Some((name, value)) = given.split_once('=').filter(|(name, _)| is_name(name)) else {
                return Err(format!("'-v {given}': Invalid argument. A variable is given as name=value."));
            };
            let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            self.variables.push((name.to_owned(), inner.unwrap_or(value).to_owned()));
            let is_further = at.rest.first().is_some_and(|further| !further.starts_with('-'));
            next = if is_further { Some(at.value()?) } else { None };
        }
        Ok(())
    }

    /// `-f PAGE`, `-f i:PAGE,o:PAGE`
    fn code_pages(&mut self, at: &mut Cursor<'_>) -> Result<(), String> {
        let value = at.value()?;
        for part in value.split(',') {
            let (side, number) = part.split_once(':').unwrap_or(("", part));
            let page = number.parse().ok().and_then(code_page);
            let Some(page) = page else {
                return Err(format!("'-f {value}': The code page {number} is not supported."));
            };
            match side.to_ascii_lowercase().as_str() {
                "i" => self.input_page = Some(page),
                "o" => self.output_page = Some(page),
                "" => (self.input_page, self.output_page) = (Some(page), Some(page)),
                _ => return Err(format!("'-f {value}': Unexpected argument. Enter '-?' for help.")),
            }
        }
        Ok(())
    }

    /// Refuses options that exclude each other.
    fn check(&self) -> Result<(), String> {
        let widths = ["SQLCMDMAXVARTYPEWIDTH", "SQLCMDMAXFIXEDTYPEWIDTH"];
        if self.query.is_some() && !self.inputs.is_empty() {
            return Err("The -i and the -q/-Q options are mutually exclusive.".to_owned());
        }
        if self.trims && widths.iter().any(|name| self.setting(name).is_some()) {
            return Err("The -W and the -y/-Y options are mutually exclusive.".to_owned());
        }
        Ok(())
    }
}

/// Returns whether a variable may have this name.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.@#".contains(c))
}

/// The code page of a number; 1200 is UTF-16.
fn code_page(number: u16) -> Option<CodePage> {
    if number == CodePage::Utf16.number() { Some(CodePage::Utf16) } else { CodePage::by_number(number) }
}

/// An option and what follows it.
struct Cursor<'a> {
    argument: &'a str,
    letter: char,
    /// The text behind the letter.
    attached: &'a str,
    /// The arguments behind it.
    rest: &'a [String],
}

impl<'a> Cursor<'a> {
    fn unknown(&self) -> String {
        format!("'{}': Unknown Option. Enter '-?' for help.", self.argument)
    }

    /// The option's value.
    fn value(&mut self) -> Result<String, String> {
        if !self.attached.is_empty() {
            return Ok(std::mem::take(&mut self.attached).to_owned());
        }
        match self.rest.split_first().filter(|(value, _)| !is_option(value)) {
            Some((value, rest)) => {
                self.rest = rest;
                Ok(value.clone())
            }
            None => Err(format!("'-{}': Missing argument. Enter '-?' for help.", self.letter)),
        }
    }

    /// A value of at most so many characters.
    fn text_of(&mut self, characters: usize) -> Result<String, String> {
        let value = self.value()?;
        if value.chars().count() > characters {
            return Err(format!("'-{}': Argument too long (maximum is {characters} characters).", self.letter));
        }
        Ok(value)
    }

    fn text(&mut self) -> Result<String, String> {
        self.text_of(TEXT_CHARACTERS_MAX)
    }

    /// A whole number in a range, as text.
    fn number(&mut self, from: i64, to: i64) -> Result<String, String> {
        let value = self.value()?;
        match value.parse::<i64>() {
            Ok(number) if (from..=to).contains(&number) => Ok(number.to_string()),
            _ => Err(format!(
                "'-{} {value}': Unexpected argument. Argument value has to be between {from} and {to}.",
                self.letter
            )),
        }
    }

    /// A severity; a negative one is 0.
    fn severity(&mut self) -> Result<u8, String> {
        let number = self.number(i64::from(i32::MIN), 25)?;
        Ok(number.parse().unwrap_or(0))
    }

    /// One of a few values that may be left out: attached, or the next argument.
    fn choice(&mut self, choices: &[&'static str]) -> Result<Option<&'static str>, String> {
        let find = |value: &str| choices.iter().copied().find(|choice| *choice == value);
        if !self.attached.is_empty() {
            return find(self.attached).map(Some).ok_or_else(|| self.unknown());
        }
        let next = self.rest.split_first().and_then(|(value, rest)| Some((find(value)?, rest)));
        Ok(next.map(|(choice, rest)| {
            self.rest = rest;
            choice
        }))
    }

    /// The encryption that `-N` asks for.
    fn encryption(&mut self) -> Result<Encryption, String> {
        const CHOICES: [&str; 11] =
            ["s", "m", "o", "strict", "mandatory", "optional", "true", "false", "disable", "yes", "no"];
        Ok(match self.choice(&CHOICES)? {
            Some("s" | "strict") => Encryption::Strict,
            Some("o" | "optional" | "false" | "disable" | "no") => Encryption::Optional,
            _ => Encryption::Mandatory,
        })
    }
}

/// Returns whether an argument is an option, and no value: a dash and a letter.
fn is_option(argument: &str) -> bool {
    matches!(argument.as_bytes(), [b'-', letter] if letter.is_ascii_alphabetic() || *letter == b'?')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    fn parsed(line: &str) -> Options {
        parse(line).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    #[test]
    fn values_follow_at_once_or_as_the_next_argument() {
        for line in ["-Stcp:db,1500 -Usa -h-1 -m-1 -s, -w100", "-S tcp:db,1500 -U sa -h -1 -m -1 -s , -w 100"] {
            let options = parsed(line);
            let setting = |name| options.setting(name);
            assert_eq!((setting("SQLCMDSERVER"), setting("SQLCMDUSER")), (Some("tcp:db,1500"), Some("sa")), "{line}");
            assert_eq!((setting("SQLCMDHEADERS"), setting("SQLCMDERRORLEVEL")), (Some("-1"), Some("-1")), "{line}");
            assert_eq!((setting("SQLCMDCOLSEP"), setting("SQLCMDCOLWIDTH")), (Some(","), Some("100")), "{line}");
        }
        let options = parsed("-v a=1 b=\"x\" c =d -v e=f=g -i one.sql,two.sql -i three.sql");
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = [variable("a", "1"), variable("b", "x"), variable("c", "d"), variable("e", "f=g")];
        assert_eq!(options.variables, expected);
        assert_eq!(options.inputs, ["one.sql", "two.sql", "three.sql"].map(PathBuf::from));
        assert!(parsed("-?").shows_usage && parsed("-b -?").shows_usage);
    }

    #[test]
    fn some_values_may_be_left_out() {
        for (line, expected) in
            [("-r", Redirection::Errors), ("-r0 -b", Redirection::Errors), ("-r 1", Redirection::All)]
        {
            assert_eq!(parsed(line).redirection, expected, "{line}");
        }
        for (line, expected) in [
            ("-N", Encryption::Mandatory),
            ("-N -C", Encryption::Mandatory),
            ("-Ns", Encryption::Strict),
            ("-N o -C", Encryption::Optional),
            ("-Noptional", Encryption::Optional),
        ] {
            assert_eq!(parsed(line).encryption, Some(expected), "{line}");
        }
        assert_eq!((parsed("-p").statistics, parsed("-p1").statistics), (Some(false), Some(true)));
        assert_eq!((parsed("-X").restricted, parsed("-X1").restricted), (Some(false), Some(true)));
        assert_eq!(parsed("-k2").control_characters, ControlCharacters::ReplaceRuns);
        assert_eq!((parsed("-V -3").severity, parsed("-V16").severity), (Some(0), Some(16)));
    }

    #[test]
    fn what_is_wrong_is_said_as_sqlcmd_says_it() {
        let long = format!("-P {}", "x".repeat(129));
        for (line, expected) in [
            ("-P", "'-P': Missing argument. Enter '-?' for help."),
            ("-S -Q x", "'-S': Missing argument. Enter '-?' for help."),
            ("-help", "'-h elp': Unexpected argument. Argument value has to be between -1 and 2147483647."),
            ("--version", "'--version': Unknown Option. Enter '-?' for help."),
            ("-n", "'-n': Unknown Option. Enter '-?' for help."),
            ("-bb", "'-bb': Unknown Option. Enter '-?' for help."),
            ("query", "'query': Unexpected argument. Enter '-?' for help."),
            ("-a 100", "'-a 100': Unexpected argument. Argument value has to be between 512 and 32767."),
            ("-w 8", "'-w 8': Unexpected argument. Argument value has to be between 9 and 65535."),
            ("-t x", "'-t x': Unexpected argument. Argument value has to be between 0 and 65534."),
            ("-k3", "'-k3': Unknown Option. Enter '-?' for help."),
            ("-s ab", "'-s': Argument too long (maximum is 1 characters)."),
            (&long, "'-P': Argument too long (maximum is 128 characters)."),
            ("-v x", "'-v x': Invalid argument. A variable is given as name=value."),
            ("-f 12", "'-f 12': The code page 12 is not supported."),
            ("-K Write", "'-K Write': Unexpected argument. Only ReadOnly is supported."),
            ("-i a -Q b", "The -i and the -q/-Q options are mutually exclusive."),
            ("-W -y 9", "The -W and the -y/-Y options are mutually exclusive."),
            ("-A", "'-A': There is no dedicated administrator connection."),
            ("-E", "'-E': Trusted connections need Kerberos, which is not supported; give a login with -U."),
            ("-Lc", "'-L': Servers cannot be listed."),
        ] {
            assert_eq!(parse(line).err().as_deref(), Some(expected), "{line}");
        }
    }
}
