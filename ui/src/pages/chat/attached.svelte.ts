// Files that are attached to the next message of a conversation.
import { isFailure } from '../../client/failure';
import { send, urlOf, type Shape } from '../../client/http';
import { upload } from '../../client/upload';
import { m } from '../../paraglide/messages.js';
import { regional } from '../../parts/region';

export type Attachment = Shape<'Attachment'>;

/** The maximum number of files that the gateway accepts for a message. */
export const MAX_FILES = 10;

/** File types that the gateway serves as images. Other files are only downloaded. */
const IMAGES = ['image/jpeg', 'image/png', 'image/webp'];

export const isImage = (file: Attachment): boolean => IMAGES.includes(file.type);

export const urlOfFile = (session: string, file: Attachment): string =>
  urlOf('/api/sessions/{id}/attachments/{attachment_id}', { id: session, attachment_id: file.id });

function reasonOf(error: unknown): string {
  if (!isFailure(error)) return m.chat_attach_failed();
  const { max_bytes } = error.details;
  if (error.code !== 'PAYLOAD_TOO_LARGE' || max_bytes === undefined) return error.message;
  const size = new Intl.NumberFormat(regional(), { maximumSignificantDigits: 3 }).format(max_bytes / 1024 ** 2);
  return m.chat_attach_too_large({ size });
}

let next = 1;

export class Attached {
  readonly key = next++;
  /** From 0 to 1. */
  progress = $state(0);
  error = $state('');
  stored = $state.raw<Attachment | null>(null);
  session = $state('');
  #upload = new AbortController();

  constructor(
    readonly name: string,
    /** Whether the file belongs to a message that is being edited. It must then not be deleted. */
    readonly wasSent = false,
  ) {}

  /** A file that the gateway already has. */
  static again(session: string, file: Attachment): Attached {
    const attached = new Attached(file.name, true);
    attached.session = session;
    attached.stored = file;
    return attached;
  }

  get busy(): boolean {
    return this.stored === null && this.error === '';
  }

  async send(file: File, sessionOf: () => Promise<string>): Promise<void> {
    try {
      this.session = await sessionOf();
      const url = urlOf('/api/sessions/{id}/attachments', { id: this.session }, { name: this.name });
      const signal = this.#upload.signal;
      this.stored = (await upload(url, file, signal, (part) => (this.progress = part))) as Attachment;
    } catch (error) {
      if (this.#upload.signal.aborted) return;
      this.error = reasonOf(error);
    }
  }

  /** Stops the upload, and deletes the uploaded file. */
  async drop(): Promise<void> {
    this.#upload.abort();
    if (!this.stored || this.wasSent) return;
    try {
      await send('delete', urlOfFile(this.session, this.stored));
    } catch {
      // If this fails, the gateway deletes the file later: it deletes files that are not sent
      // within a day.
    }
  }
}
