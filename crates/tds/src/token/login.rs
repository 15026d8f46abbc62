//! LOGINACK and FEATUREEXTACK: a login is through.

use super::session_state::put_state;
use crate::packet::MessageWriter;
use crate::put::Put;

const LOGIN_ACK: u8 = 0xAD;
const FEATURE_ACK: u8 = 0xAE;

/// What a client is told about the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoginAck<'a> {
    /// The server's name, which some clients judge it by.
    pub program: &'a str,
    /// Its version: major, minor, build.
    pub version: (u8, u8, u16),
}

/// A feature that is granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureAck {
    /// The client may bring its session along when its connection breaks: the states that it begins with, by their numbers.
    SessionRecovery(Vec<(u8, Vec<u8>)>),
    /// `varchar` in UTF-8 is understood.
    Utf8Support,
}

impl MessageWriter {
    /// The login is through, in this writer's version.
    pub fn login_ack(&mut self, ack: &LoginAck<'_>) {
        let version = self.version.number().to_be_bytes();
        self.counted(LOGIN_ACK, |out| {
            // The interface is T-SQL.
            out.put_u8(1);
            out.extend_from_slice(&version);
            out.put_short_text(ack.program);
            let (major, minor, build) = ack.version;
            out.put_u8(major);
            out.put_u8(minor);
            out.extend_from_slice(&build.to_be_bytes());
        });
        self.cut();
    }

    /// The features that are granted. To be sent only when the client has asked for some.
    pub fn feature_ack(&mut self, features: &[FeatureAck]) {
        let out = &mut self.pending;
        out.put_u8(FEATURE_ACK);
        for feature in features {
            match feature {
                FeatureAck::SessionRecovery(states) => {
                    out.put_u8(0x01);
                    let mut data = Vec::new();
                    states.iter().for_each(|(number, value)| put_state(&mut data, *number, value));
                    out.put_u32(data.len() as u32);
                    out.extend_from_slice(&data);
                }
                FeatureAck::Utf8Support => {
                    out.put_u8(0x0A);
                    out.put_u32(1);
                    out.put_u8(1);
                }
            }
        }
        out.put_u8(0xFF);
        self.cut();
    }
}
