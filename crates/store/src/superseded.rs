//! Migrations whose files changed after they were merged, before `migrations/SHA256SUMS` prevented such changes. If
//! an earlier file migrated a database, its schema is changed to the schema of the current file.

use data_encoding::HEXLOWER;

/// An earlier file of a migration.
struct Superseded {
    version: i64,
    /// SHA-384 of the file, as hexadecimal digits.
    checksum: &'static str,
    /// The statements that change the schema of the earlier file to the schema of the current one.
    repair: &'static str,
}

const SUPERSEDED: [Superseded; 6] = [
    Superseded {
        version: 6,
        checksum: "7d730404de683c3b1421c0595d99e7242bd5513c9fb9c76f5169b5d9e79c7fec3e80144827cd27c5750a71714f152670",
        repair: "CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (status, id)
                     WHERE status IN ('rejected', 'filtered', 'deduplicated', 'failed')",
    },
    // Migration 19 creates the table again. Its rows are turns of processes that have ended.
    Superseded {
        version: 18,
        checksum: "3cc8832cbdd797715fd9abbee6a670ea83923bc99bc6059d993e66a3cfc378cf9186c9154b6c6cd9998657ac13fcb746",
        repair: "DROP TABLE chat_turns",
    },
    // A key is now encrypted together with its service. A key that was encrypted without it is unreadable and must
    // be re-entered.
    Superseded {
        version: 50,
        checksum: "9f53ad70e35b974560a5704dc1ac650f264c35efd30e3857c38d491af727baf500c5f343cfd1ec353956390aaac1e948",
        repair: "ALTER TABLE provider_keys DROP COLUMN base_url; ALTER TABLE provider_keys DROP COLUMN kind",
    },
    Superseded {
        version: 62,
        checksum: "a53793cc12316c2c0d3801fdac1898eea6212e9828bc554c98a484f50a618cb3b8a9823ddf15dccb704bdb68c9c2c675",
        repair: "ALTER TABLE inbound_messages ADD COLUMN file_id TEXT;
                 ALTER TABLE inbound_messages ADD COLUMN file_name TEXT",
    },
    // The next two files did not state in their first line which versions may write.
    Superseded {
        version: 76,
        checksum: "3d30bdb1c6ada86f09bf2252c0565f2fadc9179eaa07687c37241ab095310c48e8641d493c6ff1e67e891e5073b5e1ce",
        repair: "",
    },
    Superseded {
        version: 77,
        checksum: "a43037bd62224c92119e21b2752947c579acd92055822e3c96d9c90a19f4d8ad3518c17f942367a02e7325580f387846",
        repair: "",
    },
];

/// Returns the statements that change the schema of an earlier file to the schema of the current file. Returns
/// `None` if there is no earlier file with this checksum.
pub(crate) fn find_repair(version: i64, checksum: &[u8]) -> Option<&'static str> {
    let checksum = HEXLOWER.encode(checksum);
    let mut known = SUPERSEDED.iter();
    let found = known.find(|it| it.version == version && it.checksum == checksum);
    found.map(|it| it.repair)
}
