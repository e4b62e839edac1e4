//! Argon2id: derives the key that wraps the data key from a password or a recovery key.

use crate::cipher::{CryptoError, KEY_BYTES};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// The cost of Argon2id (version 0x13). As JSON: `{"m_cost":65536,"t_cost":3,"p_cost":1}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KdfParams {
    /// Memory in KiB.
    pub m_cost: u32,
    /// The number of iterations.
    pub t_cost: u32,
    /// The number of lanes.
    pub p_cost: u32,
}

/// Why stored parameters are refused. They may be too cheap to protect the key, because the record was weakened, or
/// so expensive that they would stall the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KdfRefused {
    #[error("{parameter} is {value}, below the minimum of {least}")]
    BelowSpecified {
        /// `m_cost`, `t_cost` or `p_cost`.
        parameter: &'static str,
        /// The value in the record.
        value: u32,
        /// The minimum.
        least: u32,
    },
    #[error("{parameter} is {value}, above the limit of {most}")]
    AboveLimit {
        /// `m_cost`, `t_cost` or `p_cost`.
        parameter: &'static str,
        /// The value in the record.
        value: u32,
        /// The maximum.
        most: u32,
    },
}

impl KdfParams {
    /// The cost for passwords: 64 MiB, 3 iterations, 1 lane. Also the minimum for a stored record.
    pub const SPECIFIED: Self = Self {
        m_cost: 64 * 1024,
        t_cost: 3,
        p_cost: 1,
    };
    /// The cost for recovery keys: 16 MiB, 2 iterations, 1 lane. It is fixed and never read from a record. The low
    /// cost is sufficient, because 128 random bits cannot be guessed.
    pub const RECOVERY: Self = Self {
        m_cost: 16 * 1024,
        t_cost: 2,
        p_cost: 1,
    };
    /// The maximum memory in a record, in KiB (256 MiB).
    pub const MAX_M_COST: u32 = 256 * 1024;
    /// The maximum number of iterations in a record.
    pub const MAX_T_COST: u32 = 10;

    /// Refuses stored parameters below [`Self::SPECIFIED`] or above 256 MiB / 10 iterations.
    pub fn check(self) -> Result<(), KdfRefused> {
        let least = Self::SPECIFIED;
        // Argon2 needs 8 KiB of memory for each lane (RFC 9106, section 3.1).
        let most_lanes = self.m_cost / 8;
        for (parameter, value, least, most) in [
            ("m_cost", self.m_cost, least.m_cost, Self::MAX_M_COST),
            ("t_cost", self.t_cost, least.t_cost, Self::MAX_T_COST),
            ("p_cost", self.p_cost, least.p_cost, most_lanes),
        ] {
            if value < least {
                return Err(KdfRefused::BelowSpecified {
                    parameter,
                    value,
                    least,
                });
            }
            if value > most {
                return Err(KdfRefused::AboveLimit {
                    parameter,
                    value,
                    most,
                });
            }
        }
        Ok(())
    }

    /// Returns the JSON text that is stored in the record.
    pub fn to_json(self) -> String {
        let Self {
            m_cost,
            t_cost,
            p_cost,
        } = self;
        format!(r#"{{"m_cost":{m_cost},"t_cost":{t_cost},"p_cost":{p_cost}}}"#)
    }
}

/// Derives a wrapping key. Takes about a tenth of a second and `m_cost` KiB of memory.
pub(crate) fn derive(
    secret: &[u8],
    salt: &[u8],
    params: KdfParams,
) -> Result<Zeroizing<[u8; KEY_BYTES]>, CryptoError> {
    let params = Params::new(params.m_cost, params.t_cost, params.p_cost, Some(KEY_BYTES))
        .map_err(|_| CryptoError::Derivation)?;
    // Uses memory of this crate: the library frees its work area without wiping it, and the last block is enough to
    // compute the key.
    let mut memory = Zeroizing::new(Vec::new());
    memory
        .try_reserve_exact(params.block_count())
        .map_err(|_| CryptoError::Derivation)?;
    memory.resize(params.block_count(), Block::new());
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into_with_memory(secret, salt, key.as_mut_slice(), memory.as_mut_slice())
        .map_err(|_| CryptoError::Derivation)?;
    Ok(key)
}

#[cfg(test)]
mod tests;
