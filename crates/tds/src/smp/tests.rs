use super::*;
use crate::error::TdsError;
use crate::limits::Limits;
use crate::packet::{PacketKind, PacketStatus, write_packets};

fn frame(kind: FrameKind, session: u16, sequence: u32, window: u32, data: &[u8]) -> Vec<u8> {
    let length = (SMP_HEADER_BYTES + data.len()) as u32;
    [&FrameHeader { kind, session, length, sequence, window }.to_bytes()[..], data].concat()
}

fn packet(kind: PacketKind, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_packets(kind, PacketStatus::default(), payload, 4096, &mut out);
    out
}

/// A connection with sessions of these numbers, whose clients allow four packets.
fn opened(sessions: &[u16]) -> Mux {
    let mut mux = Mux::new(Limits { message_bytes_max: 10_000, ..Limits::default() });
    for session in sessions {
        mux.feed(&frame(FrameKind::Open, *session, 0, 4, &[])).expect("it opens");
    }
    mux
}

fn batch(session: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
    frame(FrameKind::Data, session, sequence, 4, &packet(PacketKind::SqlBatch, payload))
}

/// The headers of the frames that can be sent.
fn sent(mux: &mut Mux) -> Vec<FrameHeader> {
    let (mut out, mut headers) = (Vec::new(), Vec::new());
    mux.frames(&mut out, usize::MAX);
    let mut rest = out.as_slice();
    while let Some((header, _)) = rest.split_first_chunk() {
        let header = FrameHeader::parse(*header).expect("a frame");
        rest = &rest[header.length as usize..];
        headers.push(header);
    }
    headers
}

#[test]
fn a_header_is_the_documents_bytes() {
    let bytes = [0x53, 0x08, 5, 0, 0x18, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0];
    let header = FrameHeader { kind: FrameKind::Data, session: 5, length: 24, sequence: 7, window: 9 };
    assert_eq!((header.to_bytes(), FrameHeader::parse(bytes)), (bytes, Ok(header)));
    for (place, byte) in [(0, 0x54), (1, 0), (1, 3), (1, 0x10), (4, 16), (4, 15), (6, 1)] {
        let mut wrong = bytes;
        wrong[place] = byte;
        assert!(FrameHeader::parse(wrong).is_err(), "{place}: {byte}");
    }
}

#[test]
fn requests_come_in_the_order_of_their_ends_wherever_the_bytes_are_cut() {
    let stream = [
        frame(FrameKind::Open, 3, 0, 4, &[]),
        frame(FrameKind::Open, 0, 0, 4, &[]),
        batch(3, 1, b"first"),
        batch(0, 1, b"second"),
        batch(3, 2, b"third"),
    ]
    .concat();
    for size in [1, 7, 16, 25, 1000] {
        let mut mux = opened(&[]);
        stream.chunks(size).for_each(|piece| mux.feed(piece).expect("frames"));
        let mut take = |only| mux.take(only).map(|(session, message)| (session, message.data));
        assert_eq!(take(Some(0)), Some((0, b"second".to_vec())), "{size}");
        assert_eq!(take(None), Some((3, b"first".to_vec())));
        assert_eq!(take(None), Some((3, b"third".to_vec())));
        assert_eq!(take(None), None);
    }
}

#[test]
fn a_window_moves_on_when_its_request_is_taken() {
    let mut mux = opened(&[1]);
    for sequence in 1..=4 {
        mux.feed(&batch(1, sequence, b"text")).expect("within the window");
    }
    assert_eq!(sent(&mut mux), []);
    assert!(matches!(mux.feed(&batch(1, 5, b"text")), Err(TdsError::Malformed(_))), "beyond the window");
    let mut mux = opened(&[1]);
    for sequence in 1..=40 {
        mux.feed(&batch(1, sequence, b"text")).expect("within the window");
        assert!(mux.take(None).is_some());
        mux.end_request();
        let windows: Vec<u32> = sent(&mut mux).iter().map(|header| header.window).collect();
        assert_eq!(windows, if sequence % 2 == 0 { vec![sequence + 4] } else { vec![] });
    }
}

#[test]
fn answers_wait_for_the_clients_window() {
    let mut mux = opened(&[1, 2]);
    for number in 0..10 {
        mux.answer(1, &packet(PacketKind::Reply, &[number]));
    }
    mux.answer(2, &packet(PacketKind::Reply, b"other"));
    let sequences = |headers: Vec<FrameHeader>| headers.iter().map(|h| (h.session, h.sequence)).collect::<Vec<_>>();
    assert_eq!(sequences(sent(&mut mux)), [(1, 1), (1, 2), (1, 3), (1, 4), (2, 1)]);
    assert_eq!(sequences(sent(&mut mux)), []);
    assert!(mux.has_changed());
    mux.feed(&frame(FrameKind::Acknowledge, 1, 0, 6, &[])).expect("a window");
    // An older window does not move it back.
    mux.feed(&frame(FrameKind::Acknowledge, 1, 0, 5, &[])).expect("a window");
    assert!(mux.has_changed() && !mux.has_changed());
    assert_eq!(sequences(sent(&mut mux)), [(1, 5), (1, 6)]);
    let mut out = Vec::new();
    mux.feed(&frame(FrameKind::Acknowledge, 1, 0, 40, &[])).expect("a window");
    mux.frames(&mut out, 1);
    assert_eq!(out.len(), SMP_HEADER_BYTES + 9, "as much as there is room for");
}

#[test]
fn a_closed_session_is_forgotten_when_its_request_has_ended() {
    let mut mux = opened(&[1, 2]);
    mux.feed(&batch(1, 1, b"one")).expect("a request");
    assert!(mux.take(None).is_some());
    mux.answer(1, &packet(PacketKind::Reply, b"never sent"));
    mux.feed(&[batch(1, 2, b"two"), batch(2, 1, b"other"), frame(FrameKind::Close, 1, 2, 4, &[])].concat())
        .expect("it closes");
    assert!(mux.is_running_closed() && mux.others_wait());
    assert_eq!(sent(&mut mux).iter().map(|header| header.kind).collect::<Vec<_>>(), [FrameKind::Close]);
    mux.answer(1, &packet(PacketKind::Reply, b"nobody listens"));
    assert_eq!(sent(&mut mux), []);
    assert!(mux.feed(&batch(1, 3, b"three")).is_err(), "nothing comes behind FIN");
    mux.end_request();
    assert_eq!(mux.take(None).map(|(session, _)| session), Some(2), "the closed session's requests are gone");
    mux.feed(&frame(FrameKind::Open, 1, 0, 4, &[])).expect("the number can be used again");
}

#[test]
fn attentions_are_the_running_sessions() {
    let mut mux = opened(&[1, 2]);
    let attention =
        |session, sequence| frame(FrameKind::Data, session, sequence, 4, &packet(PacketKind::Attention, &[]));
    mux.feed(&batch(1, 1, b"one")).expect("a request");
    assert!(mux.take(None).is_some());
    mux.feed(&attention(2, 1)).expect("an attention");
    assert!(!mux.take_attention());
    mux.feed(&attention(1, 2)).expect("an attention");
    assert!(mux.take_attention() && !mux.take_attention());
}

#[test]
fn what_a_client_sends_is_held_within_limits() {
    let mut mux = opened(&[]);
    for session in 0..SESSIONS_MAX as u16 {
        mux.feed(&frame(FrameKind::Open, session, 0, 4, &[])).expect("there is room");
    }
    assert!(matches!(mux.feed(&frame(FrameKind::Open, 5000, 0, 4, &[])), Err(TdsError::Limit { .. })));
    let mut mux = opened(&[0, 1, 2, 3]);
    let results: Vec<bool> = (0..4).map(|session| mux.feed(&batch(session, 1, &[0; 3000])).is_ok()).collect();
    assert_eq!(results, [true, true, true, false], "of all sessions together");
}

#[test]
fn who_does_not_read_is_not_read_for_ever() {
    let mut mux = opened(&[]);
    let mut rounds = 0;
    while !mux.is_clogged() {
        mux.feed(&[frame(FrameKind::Open, 1, 0, 4, &[]), frame(FrameKind::Close, 1, 0, 4, &[])].concat())
            .expect("frames");
        mux.frames(&mut Vec::new(), 0);
        rounds += 1;
    }
    assert!((4000..5000).contains(&rounds), "{rounds}");
    assert_eq!(sent(&mut mux).len(), rounds);
    assert!(!mux.is_clogged());
}

#[test]
fn what_is_in_the_file_is_sent_in_its_place() {
    let mut queue = Queue::default();
    let numbered = |number: u8| packet(PacketKind::Reply, &[number]);
    let next = |queue: &mut Queue| queue.next().map(|packet| packet[8]);
    (0..3).for_each(|number| queue.add(&numbered(number)));
    assert_eq!(next(&mut queue), Some(0));
    let file = queue.begin_out();
    queue.add(&numbered(3));
    assert_eq!((file.clone(), next(&mut queue)), ([numbered(1), numbered(2)].concat(), None));
    assert_eq!(queue.begin_out(), [], "one movement at a time");
    let regions = [Region { offset: 0, length: 9 }, Region { offset: 9, length: 9 }];
    queue.end_out(regions);
    queue.add(&numbered(4));
    for region in regions {
        assert_eq!((next(&mut queue), queue.wanted()), (None, Some(region)));
        queue.begin_in();
        queue.end_in(file[region.offset as usize..][..region.length].to_vec());
        assert_eq!(next(&mut queue), Some(1 + (region.offset / 9) as u8));
    }
    assert_eq!([next(&mut queue), next(&mut queue), next(&mut queue)], [Some(3), Some(4), None]);
    assert!(!queue.is_in_file());
    queue.end_in(numbered(9));
    assert_eq!(next(&mut queue), None, "what was not begun has no end");
}
