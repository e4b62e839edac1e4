// The file in which a user keeps the recovery key. Its text must still explain its purpose years
// later.
import { m } from '../paraglide/messages.js';
import { product } from '../state/session.svelte';

/**
 * Returns the name and text of the file. The text contains the key, the gateway's host, the time of creation and
 * instructions.
 */
export function recoveryFile(key: string): { name: string; text: string } {
  const { host } = location;
  const date = new Date().toISOString().slice(0, 10);
  const name = `${product().toLowerCase()}-recovery-key-${host.replace(/[^\w.-]+/g, '-')}-${date}.txt`;
  return { name, text: m.parts_recovery_file({ product: product(), key, host, date }) };
}
