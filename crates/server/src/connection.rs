//! A connection's tasks: the login, then the session's requests one after the other.

use crate::Shared;
use crate::bulk::Bulk;
use crate::call_clock::{CallClock, Step};
use crate::cursors::Cursors;
use crate::incoming::{Broken, Incoming};
use crate::listener::Place;
use crate::login::{self, Established, VERSION};
use crate::mars::{SharedMux, Spool};
use crate::requests::Prepareds;
use crate::transport::Sender;
use pikepole_contention::sync::Mutex;
use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_engine::TEMPDB;
use pikepole_query::Settings;
use pikepole_scheduler::{self as scheduler, Placement};
use pikepole_session::{Argument, ConnectionInfo, LineInfo, RecoverableState, Session, SessionOptions};
use pikepole_tds::{
    Command, Done, DoneKind, EnvChange, Feature, FeatureAck, KeptSession, Limits, LoginAck, Message, Mux,
    PACKET_BYTES_DEFAULT, PACKET_BYTES_MAX, PACKET_BYTES_MIN, ParameterRoom, TdsError, TdsVersion,
};
use pikepole_types::{Collation, Language, SqlError};
use std::future::poll_fn;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::task::Poll;

/// What clients judge the server by: some ask nothing that they do not expect of this name.
const PROGRAM: &str = "Microsoft SQL Server";

/// The task of a connection up to its login; the session's task goes on with it.
pub(crate) async fn run(socket: TcpStream, client: SocketAddr, mut place: Place) {
    let shared = Arc::clone(&place.shared);
    let connected_us = now_us();
    let established = match login::log_in(socket, client, &mut place).await {
        Ok(established) => established,
        Err(error) => {
            let cure = error.cure(&shared.options);
            return tracing::warn!(client = %client, "a connection was closed before its login: {error}{cure}");
        }
    };
    begin(established, client, connected_us, place).await;
}

/// Makes the session and hands the connection to its task.
async fn begin(mut established: Established, client: SocketAddr, connected_us: u64, place: Place) {
    let shared = Arc::clone(&place.shared);
    let info = Arc::new(connection_info(&established, client, connected_us));
    let login = &established.login;
    let own = &established.principal.default_database;
    let wished = if login.database.is_empty() { own } else { &login.database };
    let session = match new_session(&established, wished, &info, &shared).await {
        // The client has said that it takes another database instead.
        Err(error) if error.number == login::DATABASE_NOT_OPENED && !login.database_is_fatal && wished != own => {
            established.sender.writer.message(&error, shared.registry.server_name());
            new_session(&established, own, &info, &shared).await
        }
        made => made,
    };
    let recovery = established.login.features.iter().find_map(|feature| match feature {
        Feature::SessionRecovery(kept) => Some(kept.as_ref()),
        _ => None,
    });
    let asks_recovery = recovery.is_some();
    let session = match (session, recovery) {
        (Ok(session), Some(Some(kept))) => recovered(session, kept).await,
        (session, _) => session,
    };
    let session = match session {
        Ok(session) => session,
        Err(error) => {
            let refused = login::refuse(&mut established.sender, &shared, &established.login.user, &error).await;
            return tracing::warn!(client = %client, "a login was refused: {refused}");
        }
    };
    let (task, home) = (session.task_info(), scheduler::current_scheduler());
    // Where it is: the socket belongs to this scheduler's runtime.
    let place_of_task = home.map_or(Placement::LeastLoaded, |scheduler| Placement::On(scheduler as usize));
    let Established { incoming, sender, version, login, mars, .. } = established;
    // A message, the text in it and what becomes of that are there together.
    let share = usize::try_from(shared.server.budget().session_share() / 4).unwrap_or(usize::MAX);
    let limits = Limits { message_bytes_max: shared.options.request_bytes_max.min(share), ..Limits::default() };
    let told = Told {
        database: session.database_name().to_string(),
        collation: session.collation(),
        language: session.language().name,
        state: asks_recovery.then(|| KnownState { state: session.recoverable_state(), sequence: 0 }),
    };
    let mut connection = Connection {
        shared,
        session,
        incoming,
        sender,
        version,
        limits,
        told,
        prepared: Prepareds::default(),
        cursors: Cursors::default(),
        room: CallRoom::default(),
        clock: CallClock::default(),
        bulk: None,
        mars: None,
        info,
        client,
        _place: place,
    };
    connection.incoming.set_limits(limits);
    let packet_bytes = packet_bytes(login.packet_bytes);
    let asks_features = !login.features.is_empty();
    let knows_utf8 = login.features.contains(&Feature::Utf8Support);
    scheduler::spawn(task, place_of_task, async move {
        connection.greet(packet_bytes, asks_features, knows_utf8);
        connection.serve(mars).await;
    });
}

async fn new_session(
    established: &Established,
    wished: &str,
    info: &Arc<ConnectionInfo>,
    shared: &Shared,
) -> Result<Session, SqlError> {
    let login = &established.login;
    let language = Language::by_name(&login.language);
    if language.is_none() && login.language_is_fatal && !login.language.is_empty() {
        return Err(SqlError::language_unknown(&login.language));
    }
    if wished.eq_ignore_ascii_case(TEMPDB) {
        // Nobody may have needed it yet.
        shared.server.tempdb().await?;
    }
    shared.registry.prepare_database(&shared.server, wished).await;
    let options = SessionOptions {
        program_name: login.application.clone(),
        host_name: login.host.clone(),
        database: wished.to_owned(),
        login: established.principal.clone(),
        language,
        settings: if login.is_odbc { Settings::default() } else { Settings::of_db_library() },
        connection: Some(Arc::clone(info)),
    };
    Session::new(Arc::clone(&shared.server), Arc::clone(&shared.registry), options)
}

/// A session that has just begun, as another one was whose client has come back.
///
/// # Errors
/// As [`Session::recover`]; 4002 for states that are none.
async fn recovered(mut session: Session, kept: &KeptSession) -> Result<Session, SqlError> {
    match session.recover(&kept.database, &kept.language, &kept.states).await? {
        true => Ok(session),
        false => Err(TdsError::Malformed("The session to recover is none of this server's".into()).to_sql_error()),
    }
}

fn connection_info(established: &Established, client: SocketAddr, connected_us: u64) -> ConnectionInfo {
    let login = &established.login;
    ConnectionInfo {
        client,
        local: established.local,
        connected_us,
        protocol_version: established.version.number(),
        encrypted: established.encrypted,
        packet_bytes: packet_bytes(login.packet_bytes) as u32,
        interface: login.library.clone(),
        client_version: login.program_version,
        process_id: login.process,
        id: random_id(),
        reads: AtomicU64::new(1),
        writes: AtomicU64::new(0),
        last_read_us: AtomicU64::new(now_us()),
        last_write_us: AtomicU64::new(now_us()),
        lines: Mutex::new(Vec::new()),
    }
}

/// The size of packets for a client that asks for this one.
fn packet_bytes(asked: u32) -> usize {
    match asked as usize {
        0 => PACKET_BYTES_DEFAULT,
        bytes => bytes.clamp(PACKET_BYTES_MIN, PACKET_BYTES_MAX),
    }
}

/// Brings what the views show of a connection's sessions up to date.
fn show_lines(info: &ConnectionInfo, open: impl Iterator<Item = u16>) {
    let mut lines = info.lines();
    let open: Vec<u16> = open.collect();
    lines.retain(|line| open.contains(&line.number));
    for number in open {
        if !lines.iter().any(|line| line.number == number) {
            lines.push(LineInfo { number, id: random_id(), connected_us: now_us() });
        }
    }
}

/// A number that no other connection has.
fn random_id() -> [u8; 16] {
    use std::hash::{BuildHasher, RandomState};
    let (high, low) = (RandomState::new(), RandomState::new());
    let number = u128::from(high.hash_one(now_us())) << 64 | u128::from(low.hash_one(0));
    number.to_le_bytes()
}

/// Microseconds since 1970.
pub(crate) fn now_us() -> u64 {
    pikepole_machine::clock::unix_time_us().try_into().unwrap_or(0)
}

/// What the client knows of its session.
pub(crate) struct Told {
    /// The current database.
    pub(crate) database: String,
    /// The database's collation.
    pub(crate) collation: Collation,
    /// The language.
    pub(crate) language: &'static str,
    /// Its states, if it may bring them along when the connection breaks.
    pub(crate) state: Option<KnownState>,
}

/// The states of its session that a client knows.
pub(crate) struct KnownState {
    pub(crate) state: RecoverableState,
    /// How often it has been told of them.
    pub(crate) sequence: u32,
}

/// Room for the parameters of calls, which the next message of calls finds again.
#[derive(Default)]
pub(crate) struct CallRoom {
    /// As they come from the client.
    pub(crate) parameters: ParameterRoom,
    /// As the session takes them.
    pub(crate) arguments: Vec<Argument>,
}

/// A connection with a session.
pub(crate) struct Connection {
    pub(crate) shared: Arc<Shared>,
    pub(crate) session: Session,
    pub(crate) incoming: Incoming,
    pub(crate) sender: Sender,
    pub(crate) version: TdsVersion,
    pub(crate) limits: Limits,
    pub(crate) told: Told,
    pub(crate) prepared: Prepareds,
    pub(crate) cursors: Cursors,
    pub(crate) room: CallRoom,
    pub(crate) clock: CallClock,
    /// The bulk load whose rows are to come.
    pub(crate) bulk: Option<Bulk>,
    /// The sessions that the client multiplexes.
    pub(crate) mars: Option<SharedMux>,
    pub(crate) info: Arc<ConnectionInfo>,
    client: SocketAddr,
    _place: Place,
}

/// What an idle connection was woken by.
enum Arrived {
    Request(Message),
    Gone(Broken),
    /// The session is to end.
    Ended,
}

impl Connection {
    /// Writes the reply to LOGIN7.
    fn greet(&mut self, packet_bytes: usize, asks_features: bool, knows_utf8: bool) {
        let server = self.shared.registry.server_name();
        let recovery = self.told.state.as_ref().map(|known| FeatureAck::SessionRecovery(known.state.initial()));
        let writer = &mut self.sender.writer;
        writer.set_session(self.session.id() as u16);
        writer.set_knows_utf8(knows_utf8);
        writer.env_change(&EnvChange::Database { new: &self.told.database, old: "master" });
        writer.message(&SqlError::changed_database(&self.told.database), server);
        writer.env_change(&EnvChange::Collation { new: self.told.collation, old: None });
        writer.env_change(&EnvChange::Language { new: self.told.language, old: "" });
        writer.message(&SqlError::changed_language(self.told.language), server);
        writer.login_ack(&LoginAck { program: PROGRAM, version: VERSION });
        writer.env_change(&EnvChange::PacketBytes { new: packet_bytes, old: PACKET_BYTES_DEFAULT });
        if asks_features {
            let granted: Vec<FeatureAck> =
                recovery.into_iter().chain(knows_utf8.then_some(FeatureAck::Utf8Support)).collect();
            writer.feature_ack(&granted);
        }
        writer.done(DoneKind::Statement, &Done::new(Command::None));
        writer.finish();
        writer.set_packet_bytes(packet_bytes);
    }

    /// Answers requests until the client goes or the session is to end. Who is ended without having asked for anything finds the connection cut:
    /// a goodbye of TLS would be an answer, and there are drivers that take it for a fault of their own. Who is killed finds it reset, as drivers
    /// expect that can recover their sessions: SqlClient looks for that before a request, and not for an end.
    async fn serve(mut self, mars: bool) {
        let _serves = scheduler::serve_socket();
        if mars {
            self.multiplex().await;
        }
        let served = self.answer_all().await;
        if let Err(broken) = &served
            && !matches!(broken, Broken::Closed)
        {
            tracing::warn!(client = %self.client, session = self.session.id(), "a connection broke: {broken}");
        }
        // The client may have gone; what it was to hear it does not hear then.
        let _ = match served {
            Ok(()) if !self.shared.is_closing() => self.sender.reset(),
            Ok(()) => self.sender.cut().await,
            Err(_) => self.sender.close().await,
        };
        // What is rolled back may take its time; nobody waits for that with a connection that is over.
        drop(self.incoming);
        self.session.close().await;
    }

    /// Everything behind the login's answer is in sessions.
    async fn multiplex(&mut self) {
        // A client that is gone already is noticed where the first request is waited for.
        let _ = self.sender.flush().await;
        let mux = SharedMux::new(Mux::new(self.limits));
        self.incoming.multiplex(mux.clone());
        self.sender.multiplex(Spool::new(mux.clone(), self.shared.options.folder.clone()));
        self.mars = Some(mux);
    }

    async fn answer_all(&mut self) -> Result<(), Broken> {
        loop {
            self.sender.flush().await?;
            self.end_trace();
            self.info.writes.store(self.sender.writes(), Ordering::Relaxed);
            self.info.last_write_us.store(now_us(), Ordering::Relaxed);
            match self.next().await {
                Arrived::Request(message) => {
                    self.info.reads.fetch_add(1, Ordering::Relaxed);
                    self.info.last_read_us.store(now_us(), Ordering::Relaxed);
                    if self.shared.server.traced_calls() > 0 {
                        self.clock.begin(message.kind, self.session.id());
                    }
                    let buffer = self.answer_in_session(message).await?;
                    self.incoming.recycle(buffer);
                }
                Arrived::Gone(broken) => {
                    if let Broken::Protocol(error) = &broken {
                        self.tell_and_end(&error.to_sql_error()).await?;
                    }
                    return Err(broken);
                }
                // A client that has asked for nothing is told nothing: it finds the connection closed, which its driver or pool knows how to
                // mend. An error that it reads at its next request would be that request's.
                Arrived::Ended => return Ok(()),
            }
        }
    }

    /// The answer has been handed to the system.
    fn end_trace(&mut self) {
        let compiled = self.session.take_compile_ticks();
        if let Some(call) = self.clock.end(compiled) {
            self.shared.registry.trace_call(call, self.shared.server.traced_calls());
        }
    }

    /// Answers a request; on a connection with MARS in the session that it came in.
    async fn answer_in_session(&mut self, message: Message) -> Result<Vec<u8>, Broken> {
        if let Some(spool) = self.sender.spool() {
            spool.set_session(self.incoming.session());
            show_lines(&self.info, spool.mux().sessions());
        }
        let answered = self.answer(message).await;
        self.clock.step(Step::Send);
        self.sender.end_answer();
        answered
    }

    /// Waits for a request, or for the session's end.
    async fn next(&mut self) -> Arrived {
        let (session, incoming, sender) = (&self.session, &mut self.incoming, &mut self.sender);
        // A bulk load's rows come in several messages, and nothing else is done between them.
        let goes_on = self.bulk.is_some();
        poll_fn(|context| {
            if session.poll_end(context).is_ready() {
                return Poll::Ready(Arrived::Ended);
            }
            match (incoming.poll_message(context, goes_on), sender.poll_spool(context)) {
                (Poll::Ready(Ok(message)), _) => Poll::Ready(Arrived::Request(message)),
                (Poll::Ready(Err(broken)), _) => Poll::Ready(Arrived::Gone(broken)),
                (Poll::Pending, Poll::Ready(Err(error))) => Poll::Ready(Arrived::Gone(error.into())),
                (Poll::Pending, _) => Poll::Pending,
            }
        })
        .await
    }

    /// Sends an error that the client has not asked for, as the last thing.
    pub(crate) async fn tell_and_end(&mut self, error: &SqlError) -> Result<(), Broken> {
        self.sender.writer.message(error, self.shared.registry.server_name());
        let failed = Done { error: true, server_error: true, ..Done::new(Command::None) };
        self.sender.writer.done(DoneKind::Statement, &failed);
        self.sender.writer.finish();
        self.sender.flush().await?;
        Ok(())
    }
}
