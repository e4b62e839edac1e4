// Makes the gateway's messages readable: names of fields, code marks and IDs of vendors become words.
import { NAMES } from './generated/names';

/** IDs that are not words too. */
const ID = /\b(codehost_[ab]|tracker_a|(?:stt|tts)_(?:cloud|local)_\d)\b/g;

/** Returns the name of a voice provider. Other IDs are already names. */
export const providerName = (id: string): string => NAMES[id] ?? id;

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A field's name as words: `expires_at` becomes "Expires at". */
export const fieldInWords = (field: string): string =>
  upper(
    field
      .replace(/^.*[.[]/, '')
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .replaceAll('_', ' ')
      .toLowerCase(),
  );

/** The message of an error for people. */
export function inWords(message: string, { field, reason }: { field?: string; reason?: string }): string {
  const text = field && reason && message.startsWith('Invalid `') ? `${fieldInWords(field)}: ${reason}.` : message;
  return text.replace(ID, (id) => NAMES[id] ?? id).replace(/`([^`]+)`/g, '“$1”');
}
