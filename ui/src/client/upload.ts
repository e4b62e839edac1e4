// Uploads a file and reports the progress. `fetch` does not report progress.
import { notTheGateway, offline } from './failure';
import { admitted, sameSession, sessionEnded, vaultSealed } from './hooks';
import { refused } from './http';

/** Sends `file` and returns the answer. Throws a `Failure`, or an `AbortError` if `signal` is aborted. */
export async function upload(
  url: string,
  file: Blob,
  signal: AbortSignal,
  onprogress: (part: number) => void,
): Promise<unknown> {
  await admitted();
  const isSame = sameSession();
  const request = new XMLHttpRequest();
  const { promise, resolve, reject } = deferred<unknown>();
  request.open('POST', url);
  request.setRequestHeader('accept', 'application/json');
  request.setRequestHeader('content-type', 'application/octet-stream');
  request.upload.onprogress = ({ loaded, total }) => onprogress(total > 0 ? loaded / total : 0);
  request.onerror = () => reject(offline());
  request.onabort = () => reject(new DOMException('', 'AbortError'));
  request.onload = () => {
    if (request.status === 200) {
      try {
        resolve(JSON.parse(request.responseText));
      } catch {
        reject(notTheGateway(request.status));
      }
      return;
    }
    const failure = refused(request.status, request.responseText);
    if (request.status === 401 && isSame()) sessionEnded();
    if (failure.code === 'VAULT_SEALED') vaultSealed();
    reject(failure);
  };
  signal.addEventListener('abort', () => request.abort(), { once: true });
  if (signal.aborted) throw new DOMException('', 'AbortError');
  request.send(file);
  return promise;
}

function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
