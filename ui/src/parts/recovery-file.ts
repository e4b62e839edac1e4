// The file in which a user keeps the recovery key. Years later, it must still say what it is for.
import { m } from '../paraglide/messages.js';
import { product } from '../state/session.svelte';

/** Name and text of the file: the key, which gateway it belongs to, when it was created, and how to use it. */
export function recoveryFile(key: string): { name: string; text: string } {
  const { host } = location;
  const date = new Date().toISOString().slice(0, 10);
  const name = `${product().toLowerCase()}-recovery-key-${host.replace(/[^\w.-]+/g, '-')}-${date}.txt`;
  return { name, text: m.parts_recovery_file({ product: product(), key, host, date }) };
}
