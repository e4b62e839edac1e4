// Makes the gateway's messages readable: names of fields, code marks and IDs of vendors become words.

/** Vendors by the gateway's IDs. */
const NAMES: Record<string, string> = {
  codehost_a: 'GitHub',
  codehost_b: 'GitLab',
  payments: 'Stripe',
  tracker_a: 'Linear',
  stt_cloud_1: 'OpenAI',
  stt_cloud_2: 'Groq',
  stt_cloud_3: 'Deepgram',
  stt_cloud_4: 'Google Cloud',
  stt_cloud_5: 'Mistral',
  tts_cloud_1: 'ElevenLabs',
  tts_cloud_2: 'OpenAI',
  tts_cloud_3: 'Google Cloud',
  tts_local_1: 'Piper',
  tts_local_2: 'The local server',
  stt_local_1: 'The local server',
};
const ID = /\b(codehost_[ab]|tracker_a|(?:stt|tts)_(?:cloud|local)_\d)\b/g;

/** The name of a voice provider; other IDs are names already. */
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
