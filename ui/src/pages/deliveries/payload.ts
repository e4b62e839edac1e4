// Fetches a payload over HTTP, as text. The payload may be large, and the raw view shows exactly the sent text.
import { failureOf, notTheGateway, type Details } from '../../client/failure';
import { send } from '../../client/http';
import { parseExactly } from './tree';

export interface Payload {
  /** Exactly as sent. */
  text: string;
  /** Absent if the payload is not JSON. */
  json?: { value: unknown };
}

interface Answer {
  result?: { payload: unknown } | { raw: string };
  error?: { message: string; data?: { code: string } & Details };
}

const BEFORE = '"payload":';

export async function loadPayload(id: string, signal: AbortSignal): Promise<Payload> {
  const body = { jsonrpc: '2.0', id: 1, method: 'webhooks.delivery.payload', params: { id } };
  const response = await send('post', '/api/rpc', { body, signal });
  const answered = await response.text();
  const answer = JSON.parse(answered) as Answer;
  if (answer.error) throw failureOf(answer.error);
  const { result } = answer;
  if (!result) throw notTheGateway(response.status);
  if ('raw' in result) return { text: decode(result.raw) };
  const text = cut(answered) ?? JSON.stringify(result.payload, null, 2);
  return { text, json: { value: parseExactly(text) } };
}

/** Extracts the payload's text from the answer; null if the answer has an unexpected structure. */
function cut(answered: string): string | null {
  const at = answered.indexOf(BEFORE);
  if (at < 0) return null;
  const text = answered.slice(at + BEFORE.length, -2);
  try {
    JSON.parse(text);
    return text;
  } catch {
    return null;
  }
}

function decode(base64: string): string {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}
