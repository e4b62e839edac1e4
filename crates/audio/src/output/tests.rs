//! Tests that work without output is counted.

use super::*;

const OPUS_PACKET: [u8; 3] = [0b1111_1100, 0xFF, 0xFE];

/// Returns the number of packets accepted before the limit, and the number of samples that they
/// yielded.
fn taken(decoder: Decoder, trim: Trim, packet: &[u8], most: u64) -> (u64, u64) {
    let mut take = |_: u32, _: &[i16]| Ok(());
    let mut output = Output::new(1, &mut take);
    let mut decoder = output.made(decoder).unwrap();
    let mut trim = trim;
    for count in 0..most {
        if let Err(error) = output.packet(&mut decoder, &mut trim, packet) {
            assert_eq!(error, AudioError::TooLong { max_seconds: 1 });
            return (count, output.given());
        }
    }
    (most, output.given())
}

fn opus() -> Decoder {
    let head = b"OpusHead\x01\x02\0\0\x80\xBB\0\0\0\0\0";
    Decoder::opus(&crate::opus_decode::Head::read(head).unwrap()).unwrap()
}

#[test]
fn broken_packets_cost_as_much_as_whole_ones() {
    let aac = Decoder::aac(&crate::adts::lc_config(4, 2)).unwrap();
    let (price, each) = (aac.price(), aac.cost(None));
    // An element that the decoder never accepts.
    let (count, given) = taken(aac, Trim::nothing(), &[0x5F; 4], 1_000_000);
    assert_eq!(count, (31 * WORK_A_SECOND - price) / each);
    assert_eq!(given, 0);
}

#[test]
fn what_is_cut_off_at_the_front_was_work() {
    let decoder = opus();
    let price = decoder.price();
    let (count, given) = taken(decoder, Trim::new(1 << 60, 1), &OPUS_PACKET, 1_000_000);
    // Each packet is 20 ms of two channels.
    assert_eq!(count, (31 * WORK_A_SECOND - price) / 1_920);
    assert_eq!(given, 0);
}

#[test]
fn nothing_is_decoded_once_nothing_more_is_wanted() {
    let (count, given) = taken(opus(), Trim::new(0, 0), &OPUS_PACKET, 1_000_000);
    assert_eq!((count, given), (1_000_000, 0));
    let (count, given) = taken(opus(), Trim::new(10, 1_000), &OPUS_PACKET, 1_000_000);
    assert_eq!((count, given), (1_000_000, 1_000));
}

#[test]
fn frames_of_another_rate_were_work() {
    let mut take = |_: u32, _: &[i16]| Ok(());
    let mut output = Output::new(1, &mut take);
    output.push(44_100, &[1]).unwrap();
    let mut decoder = opus();
    let before = output.work();
    let mut trim = Trim::nothing();
    output
        .packet(&mut decoder, &mut trim, &OPUS_PACKET)
        .unwrap();
    assert_eq!((output.given(), before - output.work()), (1, 1_920));
}
