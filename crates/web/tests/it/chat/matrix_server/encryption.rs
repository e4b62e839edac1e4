//! Encrypted rooms. The server does not know the content of their messages
//! (<https://spec.matrix.org/latest/client-server-api/#end-to-end-encryption>).

use super::Matrix;

impl Matrix {
    /// Invites the bot to a new encrypted room. Returns the number of the entry.
    pub fn invite_encrypted(&self, room: &str, by: &str, is_direct: bool) -> usize {
        let mut home = self.shared.home.lock().unwrap();
        home.encrypted.insert(room.to_owned());
        drop(home);
        self.invite(room, by, is_direct)
    }
}
