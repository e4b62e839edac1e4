// Downloads of files that the gateway sends as the answer to a POST request.
import { lost, timedOut } from './failure';
import { send } from './http';

/** The name in a `Content-Disposition` header; empty if it has none. */
const nameIn = (disposition: string | null): string => /filename="([^"]+)"/.exec(disposition ?? '')?.[1] ?? '';

/**
 * Requests a file. `longest_ms` is the maximum time for the whole answer. Throws a `Failure`, also if the answer ends
 * before the file is complete.
 */
export async function download(url: string, body: object, longest_ms: number): Promise<{ blob: Blob; name: string }> {
  const response = await send('post', url, { body, longest_ms });
  try {
    return { blob: await response.blob(), name: nameIn(response.headers.get('content-disposition')) };
  } catch (error) {
    throw (error as Error).name === 'TimeoutError' ? timedOut() : lost();
  }
}
