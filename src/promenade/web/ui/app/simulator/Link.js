sap.ui.define([], function () {
  "use strict";

  /** A value as a short text that an address can hold: base64url of JSON, deflated where that is shorter. */
  const PLAIN = "j";
  const DEFLATED = "z";

  async function through(bytes, stream) {
    const piped = new Blob([bytes]).stream().pipeThrough(stream);
    return new Uint8Array(await new Response(piped).arrayBuffer());
  }

  function toText(bytes) {
    const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  }

  function toBytes(text) {
    return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
  }

  return {
    /** The text of a value. */
    async pack(value) {
      const bytes = new TextEncoder().encode(JSON.stringify(value));
      const deflated = await through(bytes, new CompressionStream("deflate-raw"));
      return deflated.length < bytes.length ? DEFLATED + toText(deflated) : PLAIN + toText(bytes);
    },

    /** The value of a text; rejects when it was cut or changed. */
    async unpack(text) {
      const bytes = toBytes(text.slice(1));
      const isDeflated = text.startsWith(DEFLATED);
      if (!isDeflated && !text.startsWith(PLAIN)) {
        throw new Error("not a link of the simulator");
      }
      const plain = isDeflated ? await through(bytes, new DecompressionStream("deflate-raw")) : bytes;
      const value = JSON.parse(new TextDecoder("utf-8", {fatal: true}).decode(plain));
      if (typeof value !== "object" || value === null) {
        throw new Error("not a basket");
      }
      return value;
    }
  };
});
