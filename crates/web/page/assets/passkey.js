// The WebAuthn ceremonies. Uses the browser's own JSON conversions where it has them, else converts base64url by hand.

const encode = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
const decode = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
const decodeIds = (list) => (list ?? []).map((item) => ({ ...item, id: decode(item.id) }));

export const passkeysWork = (status) => Boolean(status.webauthn_available && globalThis.PublicKeyCredential && navigator.credentials);

function creationOptions(json) {
  if (PublicKeyCredential.parseCreationOptionsFromJSON) return PublicKeyCredential.parseCreationOptionsFromJSON(json);
  return { ...json, challenge: decode(json.challenge), user: { ...json.user, id: decode(json.user.id) }, excludeCredentials: decodeIds(json.excludeCredentials) };
}

function requestOptions(json) {
  if (PublicKeyCredential.parseRequestOptionsFromJSON) return PublicKeyCredential.parseRequestOptionsFromJSON(json);
  return { ...json, challenge: decode(json.challenge), allowCredentials: decodeIds(json.allowCredentials) };
}

function toJson(credential) {
  // Some password managers hand out objects whose toJSON throws; then the parts are read one by one.
  try {
    if (credential.toJSON) return credential.toJSON();
  } catch { /* read by hand below */ }
  const from = credential.response;
  const response = { clientDataJSON: encode(from.clientDataJSON) };
  for (const part of ['attestationObject', 'authenticatorData', 'signature', 'userHandle']) if (from[part]) response[part] = encode(from[part]);
  if (from.getTransports) response.transports = from.getTransports();
  return { id: credential.id, rawId: encode(credential.rawId), type: credential.type, authenticatorAttachment: credential.authenticatorAttachment ?? undefined, response, clientExtensionResults: credential.getClientExtensionResults() };
}

/** Registers a passkey through `send` (call or api). `proof` is `{setup_code}` or `{}`. */
export async function registerPasskey(send, name, proof = {}) {
  const begun = await send('POST', '/api/auth/passkey/register/begin', proof);
  const credential = await navigator.credentials.create({ publicKey: creationOptions(begun.options.publicKey) });
  return send('POST', '/api/auth/passkey/register/finish', { challenge_id: begun.challenge_id, name, credential: toJson(credential), ...proof });
}

// A challenge is single-use and lives five minutes, and a client may hold only a few. The one that autofill waits with is
// therefore kept over a reload, and used by the button too.
const KEPT = 'gatehouse.challenge';
const KEEP_MS = 4 * 60 * 1000;

async function challenge(send) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT));
    if (kept && Date.now() - kept.at < KEEP_MS) return kept;
  } catch { /* storage may be shut off: then every try asks anew */ }
  const fresh = { ...(await send('POST', '/api/auth/passkey/auth/begin', {})), at: Date.now() };
  try { sessionStorage.setItem(KEPT, JSON.stringify(fresh)); } catch { /* as above */ }
  return fresh;
}

/** Lets the person pick a passkey; gives the body for passkey/auth/finish or confirm. `how` may hold `mediation` and `signal`. */
export async function passkeyAnswer(send, how = {}) {
  const begun = await challenge(send);
  const credential = await navigator.credentials.get({ publicKey: requestOptions(begun.options.publicKey), ...how });
  try { sessionStorage.removeItem(KEPT); } catch { /* nothing was kept */ }
  return { challenge_id: begun.challenge_id, credential: toJson(credential) };
}

/** Waits in the browser's autofill for a passkey, with a fresh challenge every four minutes. `done` gets the answer. Gives a function that stops it. */
export function offerInAutofill(send, done) {
  let stopper = new AbortController();
  let over = false;
  const wait = async () => {
    if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
    while (!over) {
      stopper = new AbortController();
      const renew = setTimeout(() => stopper.abort(), KEEP_MS);
      try {
        const answer = await passkeyAnswer(send, { mediation: 'conditional', signal: stopper.signal });
        if (!over) await done(answer);
        return;
      } catch (err) {
        // Autofill is an extra: whatever else goes wrong, the button is still there and says why.
        if (err.name !== 'AbortError') return;
      } finally {
        clearTimeout(renew);
      }
    }
  };
  wait().catch(() => {});
  return () => { over = true; stopper.abort(); };
}
