//! The texts of `sqlcmd -?` and `:help`.

/// The summary of the options; what is refused is not in it.
pub const USAGE: &str = "\
usage: sqlcmd            [-U login]             [-P password]
  [-S [tcp:]server[,port]] [-H workstation]     [-d database]
  [-N[s|m|o] encryption] [-C trust the server's certificate]
  [-F name in the certificate]                  [-K ReadOnly]
  [-l seconds for the login]                    [-t seconds for a batch]
  [-q \"query\"]           [-Q \"query\" and exit]  [-i file[,file...]]
  [-o file]              [-u file is UTF-16]    [-f codepage | i:codepage[,o:codepage]]
  [-h rows to a heading] [-s column separator]  [-w width of a line]
  [-W no trailing blanks] [-k[1|2] remove or replace control characters]
  [-y width of long types] [-Y width of other types]
  [-b exit on an error]  [-V severity]          [-m severity]
  [-r[0|1] messages to standard error]          [-j messages without a heading]
  [-e echo the input]    [-p[1] statistics, with colons]
  [-c batch terminator]  [-I quoted identifiers] [-a packet size]
  [-v name=\"value\"...]   [-x no variables]      [-X[1] no ED and !!, no environment]
  [-z new password]      [-Z new password and exit]
  [-M] [-R] without effect here                 [-? this summary]
";

/// The commands of scripts.
pub const HELP: &str = "\
:!! [<command>]
  - Runs a command of the operating system.
:connect server[,port] [-l timeout] [-U user [-P password]]
  - Closes the connection and opens another one.
:ed
  - Edits the batch, or the one that ran last.
:error <file> | STDERR | STDOUT
  - Errors go there.
:exit
  - Leaves at once.
:exit()
  - Runs the batch, then leaves.
:exit(<query>)
  - Runs the batch and the query; the last row's first value is the exit status.
go [<n>]
  - Runs the batch (n times).
:help
  - Shows this list.
:list
  - Shows the batch.
:listvar
  - Shows the variables.
:on error [exit|ignore]
  - Says whether an error ends the script.
:out <file> | STDERR | STDOUT
  - Results go there.
:perftrace <file> | STDERR | STDOUT
  - Statistics (-p) go there.
:quit
  - Leaves at once.
:r <file>
  - Reads the lines of another script.
:reset
  - Drops the batch.
:setvar <name> [<value>]
  - Sets a variable, or drops it.
:xml [on|off]
  - Shows the results of FOR XML and FOR JSON as one stream.
";
