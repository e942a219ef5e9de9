// Whether it is the port that is wrong with an address: who reads addresses only says that it is none.

const PORT = /^(\s*[a-z][a-z0-9+.-]*:\/\/[^/?#]+):[^/?#:\]@]*(?=[/?#]|$)/i;

export const hasBadPort = (address: string): boolean =>
  !URL.canParse(address) && URL.canParse(address.replace(PORT, '$1'));
