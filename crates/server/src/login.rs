//! From the first byte to the login: PRELOGIN, TLS, LOGIN7.
//!
//! ```text
//!   0x16  TLS first (TDS 8.0), then PRELOGIN, LOGIN7 within it
//!   0x12  PRELOGIN, a TLS handshake in PRELOGIN packets when both sides are able, LOGIN7 within TLS;
//!         then TLS goes on, or ends with the login when the client did not ask for more
//!   other closed, with a line in the log
//! ```

use crate::Shared;
use crate::incoming::{Broken, Incoming};
use crate::listener::Place;
use crate::options::{Options, TlsMode};
use crate::tls::Tls;
use crate::transport::{self, Sender};
use pikepole_contention::Counter;
use pikepole_engine::LoginPrincipal;
use pikepole_tds::{
    Done, DoneKind, Limits, Login7, MessageWriter, PacketKind, PreLogin, PreLoginReply, Reassembler, Secrecy, TdsError,
    TdsVersion, TlsPolicy, negotiate_encryption,
};
use pikepole_types::SqlError;
use std::future::{Future, poll_fn};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

/// The server's version in the protocol: that whose behaviour clients may expect.
pub(crate) const VERSION: (u8, u8, u16) = (16, 0, 1000);
/// The first byte of a TLS handshake.
const TLS_HANDSHAKE: u8 = 0x16;
/// The first byte of PRELOGIN, and of the login of a client that sends none.
const FIRST_KINDS: [u8; 2] = [0x12, 0x10];

/// Why a connection has no session.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoginError {
    /// The client does not speak the protocol, or went away.
    #[error("{0}")]
    Broken(#[from] Broken),
    /// The socket or TLS failed.
    #[error("{0}")]
    Socket(#[from] io::Error),
    /// There were too many before their login.
    #[error("too many connections of its address had not logged in")]
    Displaced,
    /// The login was refused; the client has been told.
    #[error("{0}")]
    Refused(String),
}

impl From<TdsError> for LoginError {
    fn from(error: TdsError) -> Self {
        LoginError::Broken(Broken::Protocol(error))
    }
}

impl LoginError {
    /// What helps a client that does not trust the server's certificate.
    pub(crate) fn cure(&self, options: &Options) -> String {
        let LoginError::Socket(error) = self else { return String::new() };
        let alert = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>());
        let Some(rustls::Error::AlertReceived(alert)) = alert else { return String::new() };
        use rustls::AlertDescription::{
            BadCertificate, CertificateExpired, CertificateUnknown, UnknownCA, UnsupportedCertificate,
        };
        if !matches!(
            alert,
            UnknownCA | BadCertificate | CertificateUnknown | CertificateExpired | UnsupportedCertificate
        ) {
            return String::new();
        }
        let [own, _] = crate::tls::own_pair_files(&options.folder);
        let certificate = options.certificate.as_ref().unwrap_or(&own);
        format!(
            "; the client does not trust {}: give it the file, let it trust any (TrustServerCertificate=true), or see `pikepole trust`",
            certificate.display()
        )
    }
}

/// A client that has logged in.
pub(crate) struct Established {
    pub(crate) incoming: Incoming,
    pub(crate) sender: Sender,
    pub(crate) login: Login7,
    pub(crate) principal: LoginPrincipal,
    pub(crate) version: TdsVersion,
    pub(crate) encrypted: bool,
    /// Several sessions are to be multiplexed.
    pub(crate) mars: bool,
    pub(crate) local: SocketAddr,
}

/// Takes a client through its login. The time for that is the client's alone: passwords are looked at a few at a time, and how
/// long that takes when many log in at once is not its fault.
pub(crate) async fn log_in(
    socket: TcpStream,
    client: SocketAddr,
    place: &mut Place,
) -> Result<Established, LoginError> {
    let established = {
        let mut told_to_go = pin!(place.told_to_go());
        let mut logging_in = pin!(log_in_within_its_time(socket, client, &place.shared));
        poll_fn(|context| match logging_in.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(done),
            Poll::Pending => told_to_go.as_mut().poll(context).map(|()| Err(LoginError::Displaced)),
        })
        .await?
    };
    match place.logged_in() {
        true => Ok(established),
        false => Err(LoginError::Displaced),
    }
}

async fn log_in_within_its_time(
    socket: TcpStream,
    client: SocketAddr,
    shared: &Arc<Shared>,
) -> Result<Established, LoginError> {
    let limit = shared.options.login_time;
    let too_late = |_| LoginError::Refused(format!("no login within {limit:?}"));
    let mut heard = tokio::time::timeout(limit, hear(socket, shared)).await.map_err(too_late)??;
    match verify(&heard.login, &mut heard.incoming, client, shared).await? {
        Ok(principal) => {
            let Heard { incoming, sender, login, version, encrypted, mars, local } = heard;
            Ok(Established { incoming, sender, login, principal, version, encrypted, mars, local })
        }
        Err(error) => {
            let refused = refuse(&mut heard.sender, shared, &heard.login.user, &error);
            Err(tokio::time::timeout(limit, refused).await.unwrap_or_else(too_late))
        }
    }
}

/// Does something that a client waits for, as long as it does: work for one that has gone is dropped.
async fn while_there<T>(incoming: &mut Incoming, work: impl Future<Output = T>) -> Result<T, Broken> {
    let mut work = pin!(work);
    poll_fn(|context| {
        if let Poll::Ready(done) = work.as_mut().poll(context) {
            return Poll::Ready(Ok(done));
        }
        // What it sends now is for later; an attention has nothing to take back.
        while let Poll::Ready(noticed) = incoming.poll_attention(context) {
            noticed?;
        }
        Poll::Pending
    })
    .await
}

/// A client that has said who it is.
struct Heard {
    incoming: Incoming,
    sender: Sender,
    login: Login7,
    version: TdsVersion,
    encrypted: bool,
    mars: bool,
    local: SocketAddr,
}

/// Reads what a client says up to its LOGIN7, with the TLS handshake between.
async fn hear(socket: TcpStream, shared: &Arc<Shared>) -> Result<Heard, LoginError> {
    let local = socket.local_addr()?;
    let socket = tokio::net::TcpStream::from_std(socket)?;
    let (receiver, mut sender) = transport::halves(socket, MessageWriter::new(TdsVersion::V7_4, 0));
    let mut incoming = Incoming::new(receiver, Reassembler::new(Limits::before_login()));
    let first = incoming.first_byte().await?;
    let is_strict = first == TLS_HANDSHAKE;
    if is_strict {
        let Some(tls) = &shared.tls else {
            return Err(LoginError::Refused("it begins with TLS, which is off here".to_string()));
        };
        let tls = Tls::new(&tls.strict)?;
        encrypt(&mut incoming, &mut sender, tls, false, shared).await?;
    } else if !FIRST_KINDS.contains(&first) {
        return Err(LoginError::Refused(format!("it begins with the byte 0x{first:02X}, which is no login")));
    }
    let mut message = incoming.message().await?;
    let mut secrecy = if is_strict { Secrecy::Full } else { Secrecy::Plain };
    let mut mars = false;
    if message.kind == PacketKind::PreLogin {
        (secrecy, mars) = pre_login(&message.data, &mut incoming, &mut sender, is_strict, shared).await?;
        message = incoming.message().await?;
    } else if shared.options.tls == TlsMode::Required && !is_strict {
        return Err(LoginError::Refused("it does not encrypt its login, which is required here".to_string()));
    }
    if message.kind != PacketKind::Login7 {
        return Err(LoginError::Refused(format!("a login was expected, not {:?}", message.kind)));
    }
    if secrecy == Secrecy::LoginOnly {
        let (receiver, _) = incoming.parts();
        transport::decrypt(receiver, &mut sender);
    }
    let login = match Login7::parse(&message.data) {
        Ok(login) => login,
        Err(error) => return Err(refuse(&mut sender, shared, "", &error.to_sql_error()).await),
    };
    let Some(version) = TdsVersion::negotiate(login.version) else {
        return Err(LoginError::Refused(format!("its protocol version 0x{:08X} is too old", login.version)));
    };
    sender.writer.set_version(version);
    let encrypted = secrecy == Secrecy::Full;
    // Older clients do not know it, whatever they say.
    let mars = mars && version >= TdsVersion::V7_2;
    Ok(Heard { incoming, sender, login, version, encrypted, mars, local })
}

/// Answers PRELOGIN, and makes the TLS handshake that follows from it. Also whether the client wants several sessions, which it gets.
async fn pre_login(
    data: &[u8],
    incoming: &mut Incoming,
    sender: &mut Sender,
    is_strict: bool,
    shared: &Shared,
) -> Result<(Secrecy, bool), LoginError> {
    let asked = PreLogin::parse(data)?;
    let policy = match shared.options.tls {
        TlsMode::Required => TlsPolicy::Required,
        TlsMode::Optional => TlsPolicy::Optional,
        TlsMode::Off => TlsPolicy::Off,
    };
    let (encryption, secrecy) = negotiate_encryption(asked.encryption, policy);
    let (answer_federated, mars) = (asked.asks_federated, asked.mars);
    let answer_instance = asked.instance.is_some();
    let reply = PreLoginReply { version: VERSION, encryption, answer_instance, answer_federated, mars };
    sender.writer.raw(&reply.to_bytes());
    sender.writer.finish();
    sender.flush().await?;
    if is_strict {
        return Ok((Secrecy::Full, mars));
    }
    match secrecy {
        Secrecy::Plain => {}
        Secrecy::Refused => {
            let why = "its wish for encryption and the server's do not go together";
            return Err(LoginError::Refused(why.to_string()));
        }
        Secrecy::LoginOnly | Secrecy::Full => {
            let tls = shared.tls.as_ref().ok_or_else(|| io::Error::other("TLS is off"))?;
            let tls = Tls::new(&tls.wrapped)?;
            encrypt(incoming, sender, tls, true, shared).await?;
        }
    }
    Ok((secrecy, mars))
}

/// Makes a TLS handshake, and counts it.
async fn encrypt(
    incoming: &mut Incoming,
    sender: &mut Sender,
    tls: Tls,
    wrapped: bool,
    shared: &Shared,
) -> io::Result<()> {
    let (receiver, early) = incoming.parts();
    let is_resumed = transport::encrypt(receiver, sender, tls, wrapped, early).await?;
    let statistics = shared.server.statistics();
    statistics.add(Counter::TlsHandshakes, 1);
    statistics.add(Counter::TlsResumptions, u64::from(is_resumed));
    Ok(())
}

/// Who the client is; the inner error is to be told to it.
async fn verify(
    login: &Login7,
    incoming: &mut Incoming,
    client: SocketAddr,
    shared: &Arc<Shared>,
) -> Result<Result<LoginPrincipal, SqlError>, Broken> {
    if login.is_integrated {
        let text =
            "Login failed. The login is from an untrusted domain and cannot be used with Integrated authentication.";
        return Ok(Err(SqlError::new(18452, 14, 1, text)));
    }
    let (server, host) = (&shared.server, client.ip().to_string());
    let verifying = server.verify_login(&login.user, login.password.reveal(), &host);
    match (while_there(incoming, verifying).await?, &login.new_password) {
        (Ok(principal), None) => Ok(Ok(principal)),
        (Ok(principal), Some(new)) => {
            if let Err(error) = server.change_password(principal.id, new.reveal()).await {
                return Ok(Err(error));
            }
            tracing::info!(login = %principal.name.escape_debug(), client = %client.ip(), "a password was changed at login");
            Ok(Ok(principal))
        }
        (Err(failure), _) => {
            tracing::warn!(
                login = %login.user.escape_debug(), client = %client.ip(), failures = failure.failures,
                "login failed: {}", failure.reason.text()
            );
            while_there(incoming, server.hold_failure(&host, failure.delay)).await?;
            Ok(Err(failure.error))
        }
    }
}

/// The error of a login whose database cannot be opened.
pub(crate) const DATABASE_NOT_OPENED: i32 = 4060;

/// Tells the client why it is not let in.
pub(crate) async fn refuse(sender: &mut Sender, shared: &Shared, login: &str, error: &SqlError) -> LoginError {
    // A login is one line.
    let mut tell = |error: SqlError| sender.writer.message(&error.at_line(1), shared.registry.server_name());
    tell(error.clone());
    if error.number == DATABASE_NOT_OPENED {
        // Drivers go by the last error, and would try again after the first.
        tell(SqlError::login_failed(login));
    }
    sender.writer.done(DoneKind::Statement, &Done { error: true, ..Done::new(pikepole_tds::Command::None) });
    sender.writer.finish();
    // It may have gone already.
    let _ = sender.close().await;
    LoginError::Refused(format!("error {}: {}", error.number, error.message))
}
