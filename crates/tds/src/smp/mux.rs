//! The sessions of one connection.

use super::frame::{FrameHeader, FrameKind, FrameReader, SMP_HEADER_BYTES};
use super::queue::{Queue, Region};
use crate::error::TdsError;
use crate::limits::Limits;
use crate::packet::{Message, PacketKind, Reassembler};
use std::collections::{BTreeMap, VecDeque};

/// How many sessions a connection may have open.
pub const SESSIONS_MAX: usize = 1024;
/// How many packets a session may be ahead of who takes them.
const WINDOW: u32 = 4;
/// Nothing more is to be read while more bytes than these wait that are no answers.
const CONTROL_BYTES_MAX: usize = 64 << 10;
/// The client is told of a window that has moved by so much.
const WINDOW_STEP: u32 = 2;

/// One session.
#[derive(Debug)]
struct Session {
    reassembler: Reassembler,
    /// The number of the last DATA that has come, and the highest that the client has been told it may send.
    received: u32,
    allowed: u32,
    /// The number of the last DATA that was sent, and the highest that the client allows.
    sequence: u32,
    window: u32,
    /// Bytes of the message under way.
    gathered: usize,
    /// Messages that have come whole and are not taken.
    arrived: usize,
    /// The client has closed it; it stays while its request runs.
    closed: bool,
    queue: Queue,
}

/// A message that has come, with the bytes that it counts as.
#[derive(Debug)]
struct Arrived {
    session: u16,
    message: Message,
    bytes: usize,
}

/// See the module above.
#[derive(Debug)]
pub struct Mux {
    limits: Limits,
    reader: FrameReader,
    sessions: BTreeMap<u16, Session>,
    arrived: VecDeque<Arrived>,
    /// Bytes of all messages under way and not taken.
    gathered: usize,
    /// Frames without data that are to be sent.
    control: Vec<u8>,
    /// The session whose request runs.
    running: Option<u16>,
    /// Something has come since that was last asked.
    changed: bool,
}

impl Mux {
    /// A connection without sessions.
    pub fn new(limits: Limits) -> Mux {
        Mux {
            limits,
            reader: FrameReader::default(),
            sessions: BTreeMap::new(),
            arrived: VecDeque::new(),
            gathered: 0,
            control: Vec::new(),
            running: None,
            changed: false,
        }
    }

    /// The sessions that are open.
    pub fn sessions(&self) -> impl Iterator<Item = u16> {
        self.sessions.iter().filter(|(_, session)| !session.closed).map(|(id, _)| *id)
    }

    /// Takes all bytes of `input`.
    ///
    /// # Errors
    /// What is no frame, is not to be sent now, or exceeds a limit. The stream cannot be read any further then.
    pub fn feed(&mut self, mut input: &[u8]) -> Result<(), TdsError> {
        while let Some(header) = self.reader.feed(&mut input)? {
            self.changed = true;
            self.frame(header)?;
        }
        Ok(())
    }

    /// Whether a frame has come since this was last asked.
    pub fn has_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    fn frame(&mut self, header: FrameHeader) -> Result<(), TdsError> {
        let id = header.session;
        if header.kind == FrameKind::Open {
            return self.open(header);
        }
        let Some(session) = self.sessions.get_mut(&id).filter(|session| !session.closed) else {
            return Err(TdsError::malformed(format!("Session {id} is not open")));
        };
        // A window never moves back, and never beyond what can be under way.
        if header.window.wrapping_sub(session.window) <= u32::MAX / 2 {
            session.window = header.window;
        }
        match header.kind {
            FrameKind::Open | FrameKind::Acknowledge => Ok(()),
            FrameKind::Close => {
                self.close(id);
                Ok(())
            }
            FrameKind::Data => self.data(header),
        }
    }

    fn open(&mut self, header: FrameHeader) -> Result<(), TdsError> {
        if self.sessions.contains_key(&header.session) {
            return Err(TdsError::malformed(format!("Session {} is open already", header.session)));
        }
        if self.sessions.len() >= SESSIONS_MAX {
            return Err(TdsError::Limit { what: "sessions of a connection", limit: SESSIONS_MAX });
        }
        let session = Session {
            reassembler: Reassembler::new(self.limits),
            received: 0,
            allowed: WINDOW,
            sequence: 0,
            window: header.window,
            gathered: 0,
            arrived: 0,
            closed: false,
            queue: Queue::default(),
        };
        self.sessions.insert(header.session, session);
        Ok(())
    }

    /// The client wants nothing more of a session.
    fn close(&mut self, id: u16) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let header = FrameHeader {
            kind: FrameKind::Close,
            session: id,
            length: SMP_HEADER_BYTES as u32,
            sequence: session.sequence,
            window: session.allowed,
        };
        self.control.extend_from_slice(&header.to_bytes());
        self.gathered -= session.gathered;
        session.gathered = 0;
        session.closed = true;
        session.queue = Queue::default();
        for dropped in self.arrived.iter().filter(|arrived| arrived.session == id) {
            self.gathered -= dropped.bytes;
        }
        self.arrived.retain(|arrived| arrived.session != id);
        if self.running != Some(id) {
            self.sessions.remove(&id);
        }
    }

    fn data(&mut self, header: FrameHeader) -> Result<(), TdsError> {
        let id = header.session;
        let Some(session) = self.sessions.get_mut(&id) else { return Ok(()) };
        if header.sequence != session.received.wrapping_add(1) || session.received == session.allowed {
            return Err(TdsError::malformed(format!("Session {id} has sent {} out of turn", header.sequence)));
        }
        session.received = header.sequence;
        let mut bytes = self.reader.data();
        self.gathered += bytes.len();
        session.gathered += bytes.len();
        if self.gathered > self.limits.message_bytes_max {
            return Err(TdsError::Limit { what: "bytes of a message", limit: self.limits.message_bytes_max });
        }
        while let Some(message) = session.reassembler.feed(&mut bytes)? {
            session.arrived += 1;
            let bytes = std::mem::take(&mut session.gathered);
            self.arrived.push_back(Arrived { session: id, message, bytes });
        }
        self.move_window(id);
        Ok(())
    }

    /// Lets a session send more, unless what it has sent is still to be taken.
    fn move_window(&mut self, id: u16) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let allowed = session.received.wrapping_add(WINDOW);
        if session.closed || session.arrived > 0 || allowed.wrapping_sub(session.allowed) < WINDOW_STEP {
            return;
        }
        session.allowed = allowed;
        let header = FrameHeader {
            kind: FrameKind::Acknowledge,
            session: id,
            length: SMP_HEADER_BYTES as u32,
            sequence: session.sequence,
            window: allowed,
        };
        self.control.extend_from_slice(&header.to_bytes());
    }

    /// The next message, of one session only if that is said; its session's request runs from now on.
    pub fn take(&mut self, only: Option<u16>) -> Option<(u16, Message)> {
        let place = self.arrived.iter().position(|arrived| only.is_none_or(|only| only == arrived.session))?;
        let Arrived { session, message, bytes } = self.arrived.remove(place)?;
        self.gathered -= bytes;
        if let Some(own) = self.sessions.get_mut(&session) {
            own.arrived -= 1;
        }
        self.move_window(session);
        self.running = Some(session);
        Some((session, message))
    }

    /// Takes an attention to the running request, if one has come.
    pub fn take_attention(&mut self) -> bool {
        let running = self.running;
        let is_it =
            |arrived: &Arrived| Some(arrived.session) == running && arrived.message.kind == PacketKind::Attention;
        if !self.arrived.iter().any(is_it) {
            return false;
        }
        self.take(running).is_some_and(|(_, message)| message.kind == PacketKind::Attention)
    }

    /// Whether another session than the running one has sent a request.
    pub fn others_wait(&self) -> bool {
        self.arrived.iter().any(|arrived| Some(arrived.session) != self.running)
    }

    /// Whether the client has closed the session whose request runs.
    pub fn is_running_closed(&self) -> bool {
        self.running.and_then(|id| self.sessions.get(&id)).is_none_or(|session| session.closed)
    }

    /// The running request has ended.
    pub fn end_request(&mut self) {
        if let Some(id) = self.running.take()
            && self.sessions.get(&id).is_some_and(|session| session.closed)
        {
            self.sessions.remove(&id);
        }
    }

    /// Adds packets to the answer of a session; one that is closed hears nothing any more.
    pub fn answer(&mut self, id: u16, packets: &[u8]) {
        if let Some(session) = self.sessions.get_mut(&id).filter(|session| !session.closed) {
            session.queue.add(packets);
        }
    }

    /// What waits to be sent in a session.
    pub fn queue(&mut self, id: u16) -> Option<&mut Queue> {
        self.sessions.get_mut(&id).map(|session| &mut session.queue)
    }

    /// The answers that wait.
    pub fn queues(&self) -> impl Iterator<Item = (u16, &Queue)> {
        self.sessions.iter().map(|(id, session)| (*id, &session.queue))
    }

    /// Appends the frames that may be sent now, as long as there are fewer bytes than `bytes_max`.
    pub fn frames(&mut self, out: &mut Vec<u8>, bytes_max: usize) {
        if out.len() < bytes_max {
            out.append(&mut self.control);
        }
        for (id, session) in &mut self.sessions {
            while session.sequence != session.window
                && out.len() < bytes_max
                && let Some(packet) = session.queue.next()
            {
                session.sequence = session.sequence.wrapping_add(1);
                let header = FrameHeader {
                    kind: FrameKind::Data,
                    session: *id,
                    length: (SMP_HEADER_BYTES + packet.len()) as u32,
                    sequence: session.sequence,
                    window: session.allowed,
                };
                out.extend_from_slice(&header.to_bytes());
                out.extend_from_slice(packet);
            }
            session.queue.shrink();
        }
    }

    /// A part of the file that could be sent; its session's queue is to be told when it is read.
    pub fn begin_in(&mut self) -> Option<(u16, Region)> {
        let mut open = self.sessions.iter_mut().filter(|(_, session)| session.sequence != session.window);
        open.find_map(|(id, session)| {
            let region = session.queue.wanted()?;
            session.queue.begin_in();
            Some((*id, region))
        })
    }

    /// Whether there is such a part.
    pub fn wants_in(&self) -> bool {
        let mut open = self.sessions.values().filter(|session| session.sequence != session.window);
        open.any(|session| session.queue.wanted().is_some())
    }

    /// Whether there are frames that may be sent now.
    pub fn has_frames(&self) -> bool {
        let mut open = self.sessions.values().filter(|session| session.sequence != session.window);
        !self.control.is_empty() || open.any(|session| session.queue.has_next())
    }

    /// Whether the client has made so many frames necessary that no more of its own are to be read until they are sent.
    pub fn is_clogged(&self) -> bool {
        self.control.len() > CONTROL_BYTES_MAX
    }

    /// Whether a session is there and the client has not closed it.
    pub fn is_open(&self, id: u16) -> bool {
        self.sessions.get(&id).is_some_and(|session| !session.closed)
    }
}
