use super::*;
use gatehouse_domain::SeededRandom;

const SECRET: &str = "a secret of the cluster, 32 characters or more";

fn cluster(secret: &str) -> ClusterKey {
    ClusterKey::derive(&SecretString::from(secret))
        .unwrap()
        .unwrap()
}

fn place() -> SharePlace {
    SharePlace {
        dek_id: "dek_1".to_owned(),
        generation: 7,
        request: "req_1".to_owned(),
    }
}

fn dek(id: &str, byte: u8) -> Dek {
    Dek::from_bytes(DekId::from_text(id), &[byte; 32]).unwrap()
}

#[test]
fn a_short_secret_is_refused() {
    let derive = |text: &str| ClusterKey::derive(&SecretString::from(text)).unwrap();
    assert!(derive(&"ß".repeat(31)).is_none());
    assert!(derive(&"ß".repeat(32)).is_some());
}

#[test]
fn the_node_that_asked_gets_the_key_and_nobody_else() {
    let (random, cluster) = (SeededRandom::new(1), cluster(SECRET));
    let other_cluster = self::cluster("another secret of the same length as the first");
    let (asked, place) = (ShareKey::generate(&random), place());
    let request = asked.request(&cluster, &random, &place).unwrap();
    let key = dek("dek_1", 5);
    let answer = cluster.answer(&random, &place, &request, &key).unwrap();
    let opened = asked.open(&cluster, &place, &answer).unwrap();
    assert_eq!((opened.id(), opened.expose()), (key.id(), &[5; 32]));

    // The attacker has only the cluster secret, or only the private key.
    let thief = ShareKey::generate(&random);
    assert!(thief.open(&cluster, &place, &answer).is_err());
    assert!(asked.open(&other_cluster, &place, &answer).is_err());
    // The request was made without the cluster secret.
    let forged = thief.request(&other_cluster, &random, &place).unwrap();
    assert!(cluster.answer(&random, &place, &forged, &key).is_err());
    // The answer was made without the cluster secret.
    let request = asked.request(&other_cluster, &random, &place).unwrap();
    let own = dek("dek_1", 9);
    let forged = other_cluster.answer(&random, &place, &request, &own);
    assert!(asked.open(&cluster, &place, &forged.unwrap()).is_err());
}

#[test]
fn a_request_and_an_answer_are_valid_in_their_place_only() {
    let (random, cluster, key) = (SeededRandom::new(2), cluster(SECRET), dek("dek_1", 5));
    let (asked, right) = (ShareKey::generate(&random), place());
    let request = asked.request(&cluster, &random, &right).unwrap();
    let answer = cluster.answer(&random, &right, &request, &key).unwrap();
    let wrong = [
        SharePlace {
            dek_id: "dek_2".to_owned(),
            ..place()
        },
        SharePlace {
            generation: 8,
            ..place()
        },
        SharePlace {
            request: "req_2".to_owned(),
            ..place()
        },
    ];
    for wrong in wrong {
        assert!(cluster.answer(&random, &wrong, &request, &key).is_err());
        assert!(asked.open(&cluster, &wrong, &answer).is_err());
    }
    // A request is not accepted as an answer.
    for text in [request.as_str(), "", ".", "AA.AA"] {
        assert!(asked.open(&cluster, &right, text).is_err());
    }
}

/// RFC 7748, section 6.1: a public key of low order would give a Diffie-Hellman secret that anyone can compute.
#[test]
fn a_public_key_of_low_order_is_refused() {
    let (random, cluster, place) = (SeededRandom::new(3), cluster(SECRET), place());
    let key = cluster.key_with(&[], &[], REQUEST_INFO).unwrap();
    let aad = Aad::ShareRequest(place.clone());
    let request = cipher::seal(&key, &random, &aad, &[0; 32]).unwrap();
    let answer = cluster.answer(&random, &place, &request, &dek("dek_1", 5));
    assert_eq!(answer.unwrap_err(), CryptoError::NotAuthentic);
}

#[test]
fn a_rotated_key_is_for_nodes_with_the_old_key_and_the_secret() {
    let (random, cluster) = (SeededRandom::new(4), cluster(SECRET));
    let (old, new) = (dek("dek_1", 1), dek("dek_2", 2));
    let text = cluster.hand_over(&random, &old, &new).unwrap();
    let taken = cluster.take_over(&old, "dek_2", &text).unwrap();
    assert_eq!((taken.id().as_str(), taken.expose()), ("dek_2", &[2; 32]));
    assert!(cluster.take_over(&old, "dek_3", &text).is_err());
    assert!(cluster.take_over(&dek("dek_1", 3), "dek_2", &text).is_err());
    let other = self::cluster("another secret of the same length as the first");
    assert!(other.take_over(&old, "dek_2", &text).is_err());
}

#[test]
fn nothing_secret_is_printed() {
    let random = SeededRandom::new(5);
    assert_eq!(format!("{:?}", cluster(SECRET)), "ClusterKey { .. }");
    let key = ShareKey::generate(&random);
    assert_eq!(format!("{key:?}"), "ShareKey { .. }");
}
