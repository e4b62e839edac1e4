// Downloads a backup, which the gateway makes while it sends it.
import { Failure, notTheGateway } from '../../../client/failure';
import { send } from '../../../client/http';
import { m } from '../../../paraglide/messages.js';
import { saveAs } from '../../../parts/save';
import { HOUR_MS } from '../../../parts/units';

/** The time limit of a download. The gateway ends the response after this time. */
const LONGEST_MS = 6 * HOUR_MS;

/** The used part of a file of the File System Access API. */
interface ChosenFile {
  name: string;
  getFile(): Promise<Blob>;
  createWritable(): Promise<WritableStream<Uint8Array<ArrayBuffer>>>;
  /** Not in the standard yet. */
  remove?(): Promise<void>;
}
/** Available only in Chromium, and only on pages with HTTPS or of this machine. */
type Picker = (options: { suggestedName: string }) => Promise<ChosenFile>;

export interface Download {
  /** The passphrase that encrypts the backup. Empty for the recipient of the settings. */
  passphrase: string;
  /** Whether the backup will be encrypted. This determines the suggested name. */
  isEncrypted: boolean;
  signal: AbortSignal;
  /** Called with the number of bytes that have arrived. */
  onbytes: (bytes: number) => void;
}

/**
 * Saves a backup on this device and returns the name of the file. Call it in the handler of a click. Some browsers can
 * write to a file that the user chooses, and ask for the file first. Other browsers collect the backup, and save it
 * when it is complete. Throws a `Failure`, or an `AbortError` if `signal` is aborted or the user chooses no file.
 */
export async function downloadBackup({ passphrase, isEncrypted, signal, onbytes }: Download): Promise<string> {
  const suggested = fileName(new Date(), isEncrypted);
  const file = await choose(suggested);
  const request = new AbortController();
  try {
    const response = await send('post', '/api/backup/stream', {
      body: passphrase ? { passphrase } : {},
      signal: AbortSignal.any([signal, request.signal]),
      longest_ms: LONGEST_MS,
    });
    const name = nameIn(response.headers.get('content-disposition'));
    // A proxy may send its own page, such as a login page.
    if (!name || !response.body) throw notTheGateway(response.status);
    const into = file ? await file.createWritable() : collect((blob) => saveAs(blob, name));
    await response.body.pipeThrough(counter(onbytes)).pipeTo(into, { signal });
    return file?.name ?? name;
  } catch (error) {
    // The gateway sends one backup at a time, and waits for a client that does not read, so the
    // request is aborted.
    request.abort();
    if (file) await discard(file);
    if (error instanceof Failure || signal.aborted) throw error;
    throw new Failure('LOST', m.backups_download_cut());
  }
}

/** Asks for a file, if the browser can. */
async function choose(suggestedName: string): Promise<ChosenFile | null> {
  const picker = (window as { showSaveFilePicker?: Picker }).showSaveFilePicker;
  if (!picker) return null;
  try {
    return await picker.call(window, { suggestedName });
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    // A browser policy forbids it.
    return null;
  }
}

/** Returns the gateway's name for a backup made at this time. */
export function fileName(at: Date, isEncrypted: boolean): string {
  const moment = at.toISOString().replace(/\.\d+/, '').replace(/[-:]/g, '');
  return `gatehouse-${moment}.backup${isEncrypted ? '.age' : ''}`;
}

const nameIn = (disposition: string | null) => disposition?.match(/filename="([^"]+)"/)?.[1];

function counter(onbytes: (bytes: number) => void) {
  let bytes = 0;
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, to) {
      bytes += piece.length;
      onbytes(bytes);
      to.enqueue(piece);
    },
  });
}

/** Each piece becomes a blob, because browsers may store blobs on disk. */
function collect(done: (blob: Blob) => void) {
  const pieces: Blob[] = [];
  return new WritableStream<Uint8Array<ArrayBuffer>>({
    write: (piece) => void pieces.push(new Blob([piece])),
    close: () => done(new Blob(pieces)),
  });
}

/** Deletes the empty file that the browser created. Written data is only in the file after it is closed. */
async function discard(file: ChosenFile): Promise<void> {
  try {
    if ((await file.getFile()).size === 0) await file.remove?.();
  } catch {
    // The empty file stays.
  }
}
