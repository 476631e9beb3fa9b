import COpenSSL

/// Why a server's certificate is not trusted, with the authorities that were tried.
public enum CertificateRefusal {
    /// A clause without a full stop; OpenSSL's own words follow in parentheses.
    /// - Parameters:
    ///   - code: of X509_verify_cert_error_string(3); 0 if the name alone does not fit.
    ///   - authorityFile: the file with the only authorities to trust; nil for this machine's.
    public static func words(_ code: Int, authorityFile: String?) -> String {
        let ours = authorityFile.map { "the authorities in \($0)" } ?? "the authorities that this machine trusts"
        let clause: String
        switch Int32(clamping: code) {
        case X509_V_OK, X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            return "the certificate is for another host name than the one that Volley connects to"
        case X509_V_ERR_CERT_HAS_EXPIRED:
            clause = "the certificate or its authority has expired, by this machine's clock"
        case X509_V_ERR_CERT_NOT_YET_VALID:
            clause = "the certificate or its authority is not valid yet, by this machine's clock"
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            clause = "none of \(ours) issued the certificate"
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            clause = "the certificate is self-signed, and not one of \(ours)"
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: clause = "the certificate's authority is not one of \(ours)"
        case X509_V_ERR_CERT_SIGNATURE_FAILURE:
            clause = "the certificate was signed with another key than that of \(ours), though under the same name"
        case X509_V_ERR_INVALID_PURPOSE: clause = "the certificate is not one for servers"
        case X509_V_ERR_CERT_REVOKED: clause = "the certificate was revoked"
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK:
            clause = "the certificate or its authority is too weak for this machine's rules"
        default: clause = "the certificate cannot be verified"
        }
        return "\(clause) (OpenSSL: \(String(cString: X509_verify_cert_error_string(code))))"
    }
}
