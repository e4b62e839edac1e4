// Calls to the HTTP API, typed from the gateway's OpenAPI document. Socket calls are in `rpc.ts`.
import { Failure, lost, notTheGateway, offline, timedOut, type Details } from './failure';
import type { components, paths } from './generated/http';
import { admitted, askConfirmation, sameSession, sessionEnded, vaultSealed } from './hooks';

/** A type of the HTTP API by name, such as `Shape<'AuthStatus'>`. */
export type Shape<Name extends keyof components['schemas']> = components['schemas'][Name];

/** The path that identifies the user. All other requests wait for its answer. */
const WHO = '/api/auth/status';

export type Verb = 'get' | 'post' | 'patch' | 'delete';
type PathsWith<V extends Verb> = { [P in keyof paths]: paths[P] extends { [K in V]: object } ? P : never }[keyof paths];
type Operation<V extends Verb, P extends keyof paths> = paths[P] extends { [K in V]: infer O } ? O : never;
type BodyOf<O> = O extends { requestBody?: { content: { 'application/json': infer B } } } ? B : never;
export type AnswerOf<O> = O extends { responses: { 200: { content: { 'application/json': infer A } } } } ? A : void;

export interface HttpOptions<B> {
  body?: B;
  /** Values for placeholders in the path, such as `{id}`. */
  path?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  signal?: AbortSignal;
  /** Whether a 401 is an expected answer, such as for a wrong password. It then ends the session only if it says so. */
  keep?: boolean;
}

/**
 * Sends a request. Repeats it after a confirmation if the gateway requires one. Throws a `Failure`.
 */
export async function http<V extends Verb, P extends PathsWith<V>>(
  verb: V,
  path: P,
  options: HttpOptions<BodyOf<Operation<V, P>>> = {},
): Promise<AnswerOf<Operation<V, P>>> {
  const response = await send(verb, fill(path, options), options);
  return (await body(response)) as AnswerOf<Operation<V, P>>;
}

async function body(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    // A proxy may send its own page, or the connection may break off within the answer.
    if (error instanceof SyntaxError) throw notTheGateway(response.status);
    if ((error as Error).name === 'TimeoutError') throw timedOut();
    throw (error as Error).name === 'AbortError' ? error : lost();
  }
}

/** Sends a request like `http`, with bodies and answers that are not JSON. */
export async function send(
  verb: Verb,
  url: string,
  options: {
    body?: unknown;
    signal?: AbortSignal;
    keep?: boolean;
    raw?: BodyInit;
    type?: string;
    /** Maximum time until the body of the response has arrived. Default: 2 minutes, and 5 minutes for a raw body. */
    longest_ms?: number;
  } = {},
): Promise<Response> {
  if (url !== WHO) await admitted();
  const isSame = sameSession();
  const request: RequestInit = { method: verb.toUpperCase(), headers: { accept: 'application/json' } };
  if (options.signal) request.signal = options.signal;
  if (options.raw !== undefined) {
    request.body = options.raw;
    if (options.type) request.headers = { 'content-type': options.type };
  } else if (verb !== 'get') {
    request.body = JSON.stringify(options.body ?? {});
    request.headers = { 'content-type': 'application/json', accept: 'application/json' };
  }
  const longest_ms = options.longest_ms ?? longest(url, request);
  let response = await attempt(url, request, longest_ms);
  if (response.ok) return response;
  let failure = await refusal(response);
  if (failure.code === 'CONFIRMATION_REQUIRED' && (await askConfirmation())) {
    response = await attempt(url, request, longest_ms);
    if (response.ok) return response;
    failure = await refusal(response);
  }
  const isEnded = failure.code === 'AUTH_NOT_AUTHENTICATED';
  if (response.status === 401 && (isEnded || !options.keep) && isSame()) sessionEnded();
  if (failure.code === 'VAULT_SEALED') vaultSealed();
  throw failure;
}

/**
 * The default time limit of a request. A stalled connection reports no error. Raw bodies have a
 * longer limit, because they are recordings, which take long to transcribe.
 */
const LONGEST_MS = 120_000;
const LONGEST_RAW_MS = 300_000;
/** A shorter time limit, because the page stays empty until this answer arrives or fails. */
const LONGEST_WHO_MS = 15_000;

function longest(url: string, request: RequestInit): number {
  if (url === WHO) return LONGEST_WHO_MS;
  return typeof request.body === 'object' ? LONGEST_RAW_MS : LONGEST_MS;
}

async function attempt(url: string, request: RequestInit, longest_ms: number): Promise<Response> {
  const late = AbortSignal.timeout(longest_ms);
  const signal = request.signal ? AbortSignal.any([request.signal, late]) : late;
  try {
    return await fetch(url, { credentials: 'same-origin', cache: 'no-store', ...request, signal });
  } catch (error) {
    if (late.aborted) throw timedOut();
    if (request.signal?.aborted) throw error;
    throw offline();
  }
}

const refusal = async (response: Response): Promise<Failure> => refused(response.status, await response.text());

/** The failure that an error response reports. */
export function refused(status: number, body: string): Failure {
  try {
    const { error, code, ...details } = JSON.parse(body) as { error: string; code: string } & Details;
    return new Failure(code, error, details);
  } catch {
    // A proxy may send its own error page.
    return notTheGateway(status);
  }
}

/** The URL of a path of the API. */
export const urlOf = (path: keyof paths, values: Record<string, string>, query: Record<string, string> = {}): string =>
  fill(path, { path: values, query });

function fill(
  path: string,
  options: { path?: Record<string, string>; query?: Record<string, string | number | undefined> },
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(options.path?.[name] ?? ''));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options.query ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  return text ? `${filled}?${text}` : filled;
}
