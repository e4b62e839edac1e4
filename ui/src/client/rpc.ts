// Calls to the JSON-RPC API, over the socket if open, otherwise over HTTP. Typed from the OpenRPC document.
import { Failure, failureOf, isFailure, notTheGateway, offline, timedOut, type Details } from './failure';
import { READS, type Interface } from './generated/rpc';
import { admitted, askConfirmation, isSealed, sameSession, sessionEnded, vaultSealed } from './hooks';
import { socket } from './socket';

export type Method = keyof Interface['methods'];
export type Params<M extends Method> = Interface['methods'][M]['params'];
export type Result<M extends Method> = Interface['methods'][M]['result'];
export type EventName = keyof Interface['events'];
export type EventParams<E extends EventName> = Interface['events'][E];

export interface CallOptions {
  signal?: AbortSignal;
  /** Default: 30 seconds. */
  timeout_ms?: number;
}

type Optional<M extends Method> = Record<string, never> extends Params<M> ? [params?: Params<M>] : [params: Params<M>];

/** Calls a method. Throws a `Failure`. */
export async function rpc<M extends Method>(
  method: M,
  ...[params, options]: [...Optional<M>, options?: CallOptions]
): Promise<Result<M>> {
  return call(method, params ?? {}, (options as CallOptions | undefined) ?? {}) as Promise<Result<M>>;
}

async function call(method: Method, params: object, options: CallOptions): Promise<unknown> {
  await admitted();
  if (isSealed()) await socket.settled();
  const overLine = socket.isOpen;
  try {
    return await once(method, params, options);
  } catch (error) {
    if (isFailure(error, 'CONFIRMATION_REQUIRED') && (await askConfirmation())) return once(method, params, options);
    // If the vault is sealed, every call over HTTP is refused. Over the socket, only calls that need the vault are
    // refused. The socket may have opened in the meantime.
    if (!overLine && socket.isOpen && isFailure(error, 'VAULT_SEALED')) return socket.call(method, params, options);
    // A read changes nothing, so it can be repeated if its answer was lost.
    if (isFailure(error, 'LOST') && READS.has(method)) return overHttp(method, params, options);
    throw error;
  }
}

const once = (method: Method, params: object, options: CallOptions): Promise<unknown> =>
  socket.isOpen ? socket.call(method, params, options) : overHttp(method, params, options);

async function overHttp(method: Method, params: object, options: CallOptions): Promise<unknown> {
  const signals = [AbortSignal.timeout(options.timeout_ms ?? 30_000)];
  if (options.signal) signals.push(options.signal);
  const isSame = sameSession();
  let response: Response;
  try {
    response = await fetch('/api/rpc', {
      method: 'POST',
      credentials: 'same-origin',
      cache: 'no-store',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.any(signals),
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw (error as Error).name === 'TimeoutError' ? timedOut() : offline();
  }
  if (response.status === 401 && isSame()) sessionEnded();
  let answer: {
    result?: unknown;
    error?: string | { message: string; data: { code: string } & Details };
    code?: string;
  } & Details;
  try {
    answer = await response.json();
  } catch {
    throw notTheGateway(response.status);
  }
  if (typeof answer.error === 'string') {
    const { error, code = 'INTERNAL', ...details } = answer;
    if (code === 'VAULT_SEALED') vaultSealed();
    throw new Failure(code, error as string, details as Details);
  }
  if (answer.error) throw failureOf(answer.error);
  return answer.result;
}
