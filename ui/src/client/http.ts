// Calls of the HTTP interface, typed by the gateway's own OpenAPI document. The socket's calls are in `rpc.ts`.
import { Failure, notTheGateway, offline, timedOut, type Details } from './failure';
import type { components, paths } from './generated/http';
import { admitted, askConfirmation, sessionEnded, vaultSealed } from './hooks';

/** The shapes of the HTTP interface by name: `Shape<'AuthStatus'>`. */
export type Shape<Name extends keyof components['schemas']> = components['schemas'][Name];

/** Who this is: everything else waits for its answer. */
const WHO = '/api/auth/status';

export type Verb = 'get' | 'post' | 'patch' | 'delete';
type PathsWith<V extends Verb> = { [P in keyof paths]: paths[P] extends { [K in V]: object } ? P : never }[keyof paths];
type Operation<V extends Verb, P extends keyof paths> = paths[P] extends { [K in V]: infer O } ? O : never;
type BodyOf<O> = O extends { requestBody?: { content: { 'application/json': infer B } } } ? B : never;
export type AnswerOf<O> = O extends { responses: { 200: { content: { 'application/json': infer A } } } } ? A : void;

export interface HttpOptions<B> {
  body?: B;
  /** Fills `{id}` and its like in the path. */
  path?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  signal?: AbortSignal;
  /** Answers 401 are part of the question (a wrong password), not the end of the session. */
  keep?: boolean;
}

/** Calls `verb path`. Asks for a confirmation and tries again where the gateway wants one. Throws a `Failure`. */
export async function http<V extends Verb, P extends PathsWith<V>>(
  verb: V,
  path: P,
  options: HttpOptions<BodyOf<Operation<V, P>>> = {},
): Promise<AnswerOf<Operation<V, P>>> {
  const response = await send(verb, fill(path, options), options);
  return (await response.json()) as AnswerOf<Operation<V, P>>;
}

/** As `http`, for bodies and answers that are not JSON. */
export async function send(
  verb: Verb,
  url: string,
  options: { body?: unknown; signal?: AbortSignal; keep?: boolean; raw?: BodyInit; type?: string } = {},
): Promise<Response> {
  if (url !== WHO) await admitted();
  const request: RequestInit = { method: verb.toUpperCase(), headers: { accept: 'application/json' } };
  if (options.signal) request.signal = options.signal;
  if (options.raw !== undefined) {
    request.body = options.raw;
    if (options.type) request.headers = { 'content-type': options.type };
  } else if (verb !== 'get') {
    request.body = JSON.stringify(options.body ?? {});
    request.headers = { 'content-type': 'application/json', accept: 'application/json' };
  }
  let response = await attempt(url, request);
  if (response.ok) return response;
  let failure = await refusal(response);
  if (failure.code === 'CONFIRMATION_REQUIRED' && (await askConfirmation())) {
    response = await attempt(url, request);
    if (response.ok) return response;
    failure = await refusal(response);
  }
  if (response.status === 401 && !options.keep) sessionEnded();
  if (failure.code === 'VAULT_SEALED') vaultSealed();
  throw failure;
}

/** A line that hangs tells nothing by itself. What is sent besides JSON is a recording, which takes its time to be understood. */
const LONGEST_MS = 120_000;
const LONGEST_RAW_MS = 300_000;
/** Whoever opens the page shall not look at an empty one for long before it says that nobody answers. */
const LONGEST_WHO_MS = 15_000;

function longest(url: string, request: RequestInit): number {
  if (url === WHO) return LONGEST_WHO_MS;
  return typeof request.body === 'object' ? LONGEST_RAW_MS : LONGEST_MS;
}

async function attempt(url: string, request: RequestInit): Promise<Response> {
  const late = AbortSignal.timeout(longest(url, request));
  const signal = request.signal ? AbortSignal.any([request.signal, late]) : late;
  try {
    return await fetch(url, { credentials: 'same-origin', cache: 'no-store', ...request, signal });
  } catch (error) {
    if (late.aborted) throw timedOut();
    if (request.signal?.aborted) throw error;
    throw offline();
  }
}

async function refusal(response: Response): Promise<Failure> {
  try {
    const { error, code, ...details } = (await response.json()) as { error: string; code: string } & Details;
    return new Failure(code, error, details);
  } catch {
    // A proxy in between answers in its own words.
    return notTheGateway(response.status);
  }
}

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
